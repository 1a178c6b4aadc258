#include "env/sim/placement/options.h"

#include <algorithm>
#include <map>
#include <utility>

#include "env/sim/placement/task_placer.h"

namespace yard {

std::vector<PlacementOption> PlacementOptions::of(int32_t slot, const AllowedOptionKinds& limits) {
  options_.clear();
  slot_ = slot;
  gpus_ = view_.gpus(slot);
  if (!view_.holds_gpus(slot) && !view_.within_tenant_limit(slot)) return std::move(options_);
  if (!requests_nothing_but_whole_gpus(slot) || gpus_ == 0) {
    add_anywhere();
    if (options_.empty() && limits.stop) add_preempting_for_tasks();
    return std::move(options_);
  }
  bool held_by_one = false;
  for (int32_t t = 0; t < throughput_model_.num_types(); ++t) {
    if (throughput_model_.consolidated_throughput(slot, t) <= 0) continue;
    int32_t all = 0;
    for (const int32_t m : throughput_model_.nodes_of_type(t)) {
      all += view_.spec().node_gpus[m] - count_bits(view_.down_gpu_mask(m));
    }
    if (all < gpus_) continue;
    held_by_one = true;
    const size_t before = options_.size();
    add_consolidated(t);
    if (limits.spread && gpus_ > 1 && options_.size() == before) {
      add_spread(t, false);
      add_spread(t, true);
    }
    if (options_.size() != before && options_[before].kind == OptionKind::kConsolidated) continue;
    if (limits.stop) add_preempting(t);
    if (limits.stop && limits.spread && gpus_ > 1) add_preempting_anywhere(t);
    if (limits.clear && view_.may_move()) add_moving_others(t);
  }
  if (!held_by_one) add_anywhere();
  return std::move(options_);
}

void PlacementOptions::add_anywhere() {
  PlacementOption option;
  std::vector<Piece> room(view_.max_pieces());
  const int32_t n = place(view_, PlacementRule::kBestFit, slot_, room.data());
  if (n == 0) return;
  option.pieces.assign(room.begin(), room.begin() + n);
  option.rate = throughput_model_.best_throughput(slot_);
  options_.push_back(std::move(option));
}

// Fills in what follows from the placement.
void PlacementOptions::compute_costs(PlacementOption& option) {
  std::vector<int32_t> leaving = option.victims;
  for (const JobMove& move : option.moves) leaving.push_back(move.slot);
  option.rate = throughput_model_.throughput(slot_, option.pieces, leaving);
  option.interference_cost = throughput_model_.interference_cost(slot_, option.pieces, leaving);
  for (const int32_t slot : leaving) option.gpus_moved += view_.gpus(slot);
  for (const Piece& p : option.pieces)
    option.left_over += std::max(0, free_gpus_on(p.node) - p.gpus);
  if (!view_.shaped(slot_)) return;
  const int32_t task_gpus = view_.task_need(slot_, 0).gpus;
  for (Piece& p : option.pieces) p.tasks = p.gpus / task_gpus;
}

void PlacementOptions::add_consolidated(int32_t type) {
  const int32_t node_gpus = view_.spec().max_node_gpus;
  if (gpus_ <= node_gpus) {
    std::map<int32_t, PlacementOption> best;  // by GPUs left over
    for (const int32_t m : throughput_model_.nodes_of_type(type)) {
      if (free_gpus_on(m) < gpus_) continue;
      PlacementOption option{.type = type, .pieces = {{m, gpus_}}};
      compute_costs(option);
      const auto [it, fresh] = best.try_emplace(option.left_over, option);
      const auto score = [&](const PlacementOption& o) {
        return o.rate * (1 - o.interference_cost / gpus_);
      };
      if (!fresh && score(option) > score(it->second)) it->second = std::move(option);
    }
    for (auto& [left, option] : best) options_.push_back(std::move(option));
    return;
  }
  PlacementOption option{.type = type};
  int32_t left = gpus_, tightest = kNone;
  for (const int32_t m : throughput_model_.nodes_of_type(type)) {
    if (left >= node_gpus && free_gpus_on(m) == node_gpus) {
      option.pieces.push_back({m, node_gpus});
      left -= node_gpus;
    }
  }
  if (left >= node_gpus) return;
  for (const int32_t m : throughput_model_.nodes_of_type(type)) {
    const bool taken = std::ranges::count(option.pieces, m, &Piece::node) > 0;
    if (left == 0 || taken || free_gpus_on(m) < left) continue;
    if (tightest == kNone || free_gpus_on(m) < free_gpus_on(tightest)) tightest = m;
  }
  if (left > 0) {
    if (tightest == kNone) return;
    option.pieces.push_back({tightest, left});
  }
  compute_costs(option);
  options_.push_back(std::move(option));
}

void PlacementOptions::add_spread(int32_t type, bool fullest_first) {
  std::vector<int32_t> nodes;
  int32_t free = 0;
  for (const int32_t m : throughput_model_.nodes_of_type(type)) {
    if (free_gpus_on(m) > 0) nodes.push_back(m);
    free += free_gpus_on(m);
  }
  if (free < gpus_) return;
  std::ranges::stable_sort(
      nodes, {}, [&](int32_t m) { return fullest_first ? free_gpus_on(m) : -free_gpus_on(m); });
  PlacementOption option{.kind = OptionKind::kSpread, .type = type};
  int32_t left = gpus_;
  for (const int32_t m : nodes) {
    if (left == 0) break;
    const int32_t take = std::min(left, free_gpus_on(m));
    option.pieces.push_back({m, take});
    left -= take;
  }
  compute_costs(option);
  if (fullest_first && option.pieces.size() == options_.back().pieces.size()) return;
  options_.push_back(std::move(option));
}

bool PlacementOptions::find_victims_on_node(int32_t node, int32_t gpus,
                                            std::vector<int32_t>& victims) const {
  std::vector<NodeOccupant> may;
  int32_t there = free_gpus_on(node);
  for (const NodeOccupant& one : throughput_model_.occupants(node)) {
    if (may_preempt(one.slot)) may.push_back(one);
  }
  std::sort(may.begin(), may.end(), [&](const NodeOccupant& a, const NodeOccupant& b) {
    return predicates_.preempted_before(a.slot, b.slot);
  });
  size_t n = 0;
  while (n < may.size() && there < gpus) there += may[n++].gpus;
  if (there < gpus) return false;
  may.resize(n);
  // The last ones may make enough room without the earlier ones.
  std::erase_if(may, [&](const NodeOccupant& one) {
    const bool spare = there - one.gpus >= gpus;
    if (spare) there -= one.gpus;
    return spare;
  });
  for (const NodeOccupant& one : may) victims.push_back(one.slot);
  return true;
}

bool PlacementOptions::no_task_requests_gpu_share(int32_t slot) const {
  for (int32_t g = 0; g < view_.num_groups(slot); ++g) {
    if (view_.task_need(slot, g).gpu_milli > 0) return false;
  }
  return true;
}

bool PlacementOptions::find_victims_for_task(int32_t node, std::vector<int32_t>& victims) const {
  std::vector<int32_t> may, taken;
  for (const NodeOccupant& one : throughput_model_.occupants(node)) {
    if (may_preempt(one.slot)) may.push_back(one.slot);
  }
  std::ranges::sort(may, predicates_.preempted_before);
  const TaskPlacer placer(view_);
  const auto suffice = [&] { return placer.has_room_after_preempting(slot_, 0, node, taken); };
  for (size_t n = 0; !suffice(); ++n) {
    if (n == may.size()) return false;
    taken.push_back(may[n]);
  }
  // The last ones may make enough room without the earlier ones.
  for (size_t i = 0; i < taken.size();) {
    const int32_t one = taken[i];
    taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(i));
    if (suffice()) continue;
    taken.insert(taken.begin() + static_cast<std::ptrdiff_t>(i++), one);
  }
  victims.insert(victims.end(), taken.begin(), taken.end());
  return true;
}

void PlacementOptions::add_preempting_for_tasks() {
  if (!view_.shaped(slot_) || view_.num_groups(slot_) != 1) return;
  const TaskNeed need = view_.task_need(slot_, 0);
  const bool fixed = view_.requested_tasks(slot_, 0) * need.gpus == gpus_;
  if (need.gpus == 0 || need.gpu_milli > 0 || !fixed) return;
  for (int32_t t = 0; t < throughput_model_.num_types(); ++t) {
    if (throughput_model_.consolidated_throughput(slot_, t) > 0) add_preempting(t);
  }
}

// Takes nodes where the victim that is first in order comes as late as possible.
void PlacementOptions::add_preempting(int32_t type) {
  const int32_t node_gpus = view_.spec().max_node_gpus;
  struct Room {
    int32_t node;
    std::vector<int32_t> victims;
  };
  // Whether one node's victims come after the other's in order; nodes without victims are best.
  const auto cheaper = [&](const Room& a, const Room& b) {
    if (a.victims.empty() || b.victims.empty()) {
      return a.victims.empty() != b.victims.empty() ? a.victims.empty()
                                                    : free_gpus_on(a.node) < free_gpus_on(b.node);
    }
    if (a.victims.back() == b.victims.back()) return a.victims.size() < b.victims.size();
    return predicates_.preempted_before(a.victims.back(), b.victims.back());
  };
  const auto rooms = [&](int32_t gpus, const std::vector<Piece>& but) {
    std::vector<Room> out;
    for (const int32_t m : throughput_model_.nodes_of_type(type)) {
      Room room{m, {}};
      const bool taken = std::ranges::count(but, m, &Piece::node) > 0;
      if (taken) continue;
      const bool makes_room = requests_nothing_but_whole_gpus(slot_)
                                  ? find_victims_on_node(m, gpus, room.victims)
                                  : find_victims_for_task(m, room.victims);
      if (makes_room) out.push_back(std::move(room));
    }
    return out;
  };
  PlacementOption option{.kind = OptionKind::kPreempt, .type = type};
  const auto take = [&](const Room& room, int32_t gpus) {
    option.pieces.push_back({room.node, gpus});
    for (const int32_t slot : room.victims) {
      if (std::ranges::count(option.victims, slot) == 0) option.victims.push_back(slot);
    }
  };
  int32_t left = gpus_;
  const int32_t part =
      requests_nothing_but_whole_gpus(slot_) ? node_gpus : view_.task_need(slot_, 0).gpus;
  if (left >= part) {
    std::vector<Room> full = rooms(part, {});
    const auto wanted = static_cast<size_t>(left / part);
    if (full.size() < wanted) return;
    std::stable_sort(full.begin(), full.end(), cheaper);
    for (size_t i = 0; i < wanted; ++i) take(full[i], part);
    left -= static_cast<int32_t>(wanted) * part;
  }
  if (left > 0) {
    const std::vector<Room> some = rooms(left, option.pieces);
    if (some.empty()) return;
    take(*std::min_element(some.begin(), some.end(), cheaper), left);
  }
  if (option.victims.empty()) return;  // there was room without preemption
  compute_costs(option);
  options_.push_back(std::move(option));
}

// Preempts the last jobs in order, on any nodes of the type.
void PlacementOptions::add_preempting_anywhere(int32_t type) {
  std::vector<int32_t> may;
  std::map<int32_t, int32_t> room;  // by node
  int32_t free = 0;
  for (const int32_t m : throughput_model_.nodes_of_type(type)) {
    if (free_gpus_on(m) > 0) room[m] = free_gpus_on(m);
    free += free_gpus_on(m);
    for (const NodeOccupant& one : throughput_model_.occupants(m)) {
      if (may_preempt(one.slot)) may.push_back(one.slot);
    }
  }
  std::sort(may.begin(), may.end(),
            [&](int32_t a, int32_t b) { return predicates_.preempted_before(a, b); });
  may.erase(std::unique(may.begin(), may.end()), may.end());
  const auto gives = [&](int32_t slot) {
    int32_t gpus = 0;
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      if (throughput_model_.node_type(view_.part_node(p)) == type)
        gpus += count_bits(view_.part_mask(p));
    }
    return gpus;
  };
  PlacementOption option{.kind = OptionKind::kPreempt, .type = type};
  for (const int32_t slot : may) {
    if (free >= gpus_) break;
    option.victims.push_back(slot);
    free += gives(slot);
  }
  if (free < gpus_ || option.victims.empty()) return;
  std::erase_if(option.victims, [&](int32_t slot) {
    const bool spare = free - gives(slot) >= gpus_;
    if (spare) free -= gives(slot);
    return spare;
  });
  for (const int32_t slot : option.victims) {
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      const int32_t node = view_.part_node(p);
      if (throughput_model_.node_type(node) == type) room[node] += count_bits(view_.part_mask(p));
    }
  }
  std::vector<std::pair<int32_t, int32_t>> emptiest;  // minus GPUs, node
  for (const auto& [node, gpus] : room) emptiest.emplace_back(-gpus, node);
  std::sort(emptiest.begin(), emptiest.end());
  int32_t left = gpus_;
  for (const auto& [minus, node] : emptiest) {
    if (left == 0) break;
    option.pieces.push_back({node, std::min(left, -minus)});
    left -= option.pieces.back().gpus;
  }
  compute_costs(option);
  options_.push_back(std::move(option));
}

// Moves small jobs that are on this node only to nodes of the type with room, the smallest first.
// Returns whether that frees enough GPUs.
bool PlacementOptions::find_moves_off_node(int32_t node, int32_t gpus,
                                           std::vector<JobMove>& moves) const {
  const int32_t type = throughput_model_.node_type(node);
  std::vector<NodeOccupant> may;
  int32_t there = free_gpus_on(node);
  for (const NodeOccupant& one : throughput_model_.occupants(node)) {
    const bool alone = one.gpus == view_.gpus(one.slot);
    if (one.slot != slot_ && alone && requests_nothing_but_whole_gpus(one.slot) &&
        predicates_.movable(one.slot))
      may.push_back(one);
  }
  std::ranges::stable_sort(may, {}, &NodeOccupant::gpus);
  std::vector<std::pair<int32_t, int32_t>> room;  // free GPUs of other nodes of the type, node
  for (const int32_t m : throughput_model_.nodes_of_type(type)) {
    if (m != node && free_gpus_on(m) > 0) room.emplace_back(free_gpus_on(m), m);
  }
  for (const NodeOccupant& one : may) {
    if (there >= gpus) break;
    auto tightest = room.end();
    for (auto it = room.begin(); it != room.end(); ++it) {
      if (it->first >= one.gpus && (tightest == room.end() || *it < *tightest)) tightest = it;
    }
    if (tightest == room.end()) continue;
    tightest->first -= one.gpus;
    moves.push_back({one.slot, tightest->second});
    there += one.gpus;
  }
  return there >= gpus;
}

void PlacementOptions::add_moving_others(int32_t type) {
  if (gpus_ > view_.spec().max_node_gpus || gpus_ < 2) return;
  int32_t free = 0;
  for (const int32_t m : throughput_model_.nodes_of_type(type)) free += free_gpus_on(m);
  if (free < gpus_) return;
  PlacementOption best;
  for (const int32_t m : throughput_model_.nodes_of_type(type)) {
    PlacementOption option{.kind = OptionKind::kMoveOthers, .type = type, .pieces = {{m, gpus_}}};
    if (view_.spec().node_gpus[m] < gpus_ || free_gpus_on(m) == 0) continue;
    if (!find_moves_off_node(m, gpus_, option.moves)) continue;
    compute_costs(option);
    if (best.pieces.empty() || option.gpus_moved < best.gpus_moved) best = std::move(option);
  }
  if (!best.pieces.empty()) options_.push_back(std::move(best));
}

}  // namespace yard
