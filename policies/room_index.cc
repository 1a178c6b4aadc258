#include "policies/room_index.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace yard {
namespace {

constexpr double kFree = std::numeric_limits<double>::max();  // nobody has to stop

}  // namespace

bool RoomIndex::serves(const View& view, Placement placement) {
  const SpecColumns& spec = view.spec();
  if (placement != Placement::kConsolidate || view.has_shares() || view.has_faults()) return false;
  return spec.max_node_gpus * spec.nodes_of_size[spec.max_node_gpus] == spec.total_gpus;
}

// What single nodes may have to give: whole jobs, and what remains of larger ones; bit i: i + 1
// GPUs.
uint64_t RoomIndex::sizes_of(const View& view) {
  const int32_t most = view.spec().max_node_gpus;
  uint64_t sizes = uint64_t{1} << (most - 1);
  for (int32_t k = 0; k < view.num_classes(); ++k) {
    if (view.class_gpus(k) > 0) sizes |= uint64_t{1} << ((view.class_gpus(k) - 1) % most);
  }
  return sizes;
}

size_t RoomIndex::bytes(const View& view, Placement placement) {
  if (!serves(view, placement)) return 0;
  const int32_t nodes = view.spec().num_nodes;
  const auto sizes = static_cast<int32_t>(std::popcount(sizes_of(view)));
  return Carver::bytes<uint64_t>(1) + static_cast<size_t>(sizes) * HeldOrder::bytes(nodes) +
         Carver::bytes<uint8_t>(int64_t{sizes} * nodes) + Carver::bytes<int32_t>(view.capacity()) +
         2 * Carver::bytes<int32_t>(view.total_gpus());
}

RoomIndex::RoomIndex(const View& view, Placement placement, const HeldOrder& held, Carver& carver)
    : view_(view), held_(held), serves_(serves(view, placement)) {
  if (!serves_) return;
  const int32_t nodes = view.spec().num_nodes;
  // The sizes stay what they are, and the classes are many: they are walked once.
  uint64_t* sizes = carver.take<uint64_t>(1);
  const bool made = *sizes != 0;
  if (!made) *sizes = sizes_of(view);
  for (uint64_t rest = *sizes; rest != 0; rest &= rest - 1) {
    sizes_.push_back(1 + std::countr_zero(rest));
    by_size_.emplace_back(nodes, carver);
  }
  bound_ = carver.take<uint8_t>(static_cast<int64_t>(sizes_.size()) * nodes);
  first_ = carver.take<int32_t>(view.capacity());
  next_ = carver.take<int32_t>(view.total_gpus());
  owner_ = carver.take<int32_t>(view.total_gpus());
  for (int32_t m = 0; !made && m < nodes; ++m) dirty_.push_back(m);
}

void RoomIndex::follow(int32_t slot) {
  if (!serves_) return;
  for (int32_t gpu = first_[slot]; gpu != 0; gpu = next_[gpu - 1]) {
    dirty_.push_back(node_of(gpu - 1));
  }
  first_[slot] = 0;
  if (!view_.holds(slot)) return;
  for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
    uint64_t rest = view_.part_mask(p);
    if (rest == 0) continue;
    const int32_t gpu0 = view_.spec().node_gpu0[view_.part_node(p)];
    const int32_t first = gpu0 + std::countr_zero(rest);
    for (; rest != 0; rest &= rest - 1) owner_[gpu0 + std::countr_zero(rest)] = slot;
    next_[first] = first_[slot];
    first_[slot] = 1 + first;
    dirty_.push_back(view_.part_node(p));
  }
}

int32_t RoomIndex::node_of(int32_t gpu) const {
  const int32_t* gpu0 = view_.spec().node_gpu0;
  return static_cast<int32_t>(std::upper_bound(gpu0, gpu0 + view_.spec().num_nodes, gpu) - gpu0) -
         1;
}

void RoomIndex::refresh() {
  for (const int32_t node : dirty_) refresh(node);
  dirty_.clear();
}

// Lists the holders on a node that may be stopped.
void RoomIndex::list_holders(int32_t node) {
  holders_.clear();
  const int32_t gpu0 = view_.spec().node_gpu0[node];
  uint64_t seen = 0;
  for (int32_t g = 0; g < view_.spec().node_gpus[node]; ++g) {
    const int32_t slot = owner_[gpu0 + g];
    if ((seen >> g & 1) != 0 || !held_.has(slot) || !view_.holds(slot)) continue;
    uint64_t mask = 0;
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      if (view_.part_node(p) == node) mask |= view_.part_mask(p);
    }
    if ((mask >> g & 1) == 0) continue;
    seen |= mask;
    holders_.push_back({slot, std::popcount(mask), held_.key(slot, view_.now_us())});
  }
  std::sort(holders_.begin(), holders_.end(),
            [](const Holder& a, const Holder& b) { return b.key < a.key; });
}

void RoomIndex::refresh(int32_t node) {
  list_holders(node);
  bool crossing = false;  // lines of different slopes change places in time
  for (const Holder& h : holders_) {
    crossing |= held_.line(h.slot).per_us != held_.line(holders_[0].slot).per_us;
  }
  size_t h = 0;
  int32_t free = view_.node_free(node);
  FallingLine line{kFree, 0};
  int32_t serial = 0;
  for (size_t z = 0; z < sizes_.size(); ++z) {
    while (free < sizes_[z] && h < holders_.size()) {
      free += holders_[h].gpus;
      serial = holders_[h].key.serial;
      line = crossing ? FallingLine{holders_[h].key.value, 0} : held_.line(holders_[h].slot);
      ++h;
    }
    if (free < sizes_[z]) {
      by_size_[z].remove(node);
      continue;
    }
    by_size_[z].put(node, line, serial);
    bound_[z * static_cast<size_t>(view_.spec().num_nodes) + static_cast<size_t>(node)] =
        crossing && line.at_zero != kFree;
  }
}

// The nodes that have room for so many GPUs first, at most `count` of them, the very first in
// front.
std::vector<RoomIndex::Choice> RoomIndex::first_nodes(int32_t gpus, size_t count) {
  const auto z =
      static_cast<size_t>(std::lower_bound(sizes_.begin(), sizes_.end(), gpus) - sizes_.begin());
  const uint8_t* bound = bound_ + z * static_cast<size_t>(view_.spec().num_nodes);
  std::vector<Choice> best;
  HeldOrder::Walk walk(by_size_[z], view_.now_us());
  for (Claim next = walk.next(); next.slot != kNone; next = walk.next()) {
    // Later ones have no higher key than this, be it only a bound.
    if (best.size() >= count && next.key < best[count - 1].key) break;
    Choice choice{next.key, next.slot};
    if (bound[next.slot] != 0) {
      list_holders(next.slot);
      int32_t free = view_.node_free(next.slot);
      for (size_t h = 0; free < gpus; ++h) {
        free += holders_[h].gpus;
        choice.key = holders_[h].key;
      }
    }
    const auto before = [](const Choice& a, const Choice& b) { return b.key < a.key; };
    best.insert(std::upper_bound(best.begin(), best.end(), choice, before), choice);
  }
  // What has the same key as the last one wanted has room at the same moment.
  while (best.size() > count && best.back().key < best[count - 1].key) best.pop_back();
  return best;
}

void RoomIndex::list_stops(int32_t node, const Key& from, std::vector<Claim>& stops) {
  list_holders(node);
  for (const Holder& h : holders_) {
    if (h.key < from) break;
    const auto same = [&](const Claim& stop) { return stop.slot == h.slot; };
    if (std::none_of(stops.begin(), stops.end(), same)) stops.push_back({h.key, h.slot});
  }
}

bool RoomIndex::stops_for(const Claim& claim, int32_t gpus, double margin,
                          std::vector<Claim>& stops) {
  refresh();
  const int32_t most = view_.spec().max_node_gpus;
  const auto full = static_cast<size_t>(gpus / most);
  const int32_t rest = gpus % most;
  std::vector<Choice> nodes;
  Key from{kFree, INT32_MAX};  // the last holder that has to stop
  const auto need = [&](int32_t size, size_t count) {
    const std::vector<Choice> found = first_nodes(size, count);
    if (found.size() < count) return false;
    if (found[count - 1].key < from) from = found[count - 1].key;
    nodes.insert(nodes.end(), found.begin(), found.end());
    return true;
  };
  // So many nodes empty and, for what remains, one more that has room for it.
  if (full > 0 && !need(most, full)) return false;
  if (rest > 0 && !need(rest, full + 1)) return false;
  Key last = from;
  last.value /= 1 + margin;
  if (!(claim.key < last)) return false;
  for (const Choice& choice : nodes) {
    if (!(choice.key < from)) list_stops(choice.node, from, stops);
  }
  return true;
}

}  // namespace yard
