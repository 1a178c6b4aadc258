#include "env/sim/foretell.h"

#include <algorithm>

namespace yard {
namespace {

bool among(std::span<const int32_t> slots, int32_t slot) {
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

}  // namespace

Foretell::Foretell(const View& view)
    : view_(view), nodes_(static_cast<size_t>(view.spec().num_types)) {
  for (int32_t m = 0; m < view.spec().num_nodes; ++m) {
    // Exclusive nodes of tenants are not candidates.
    if (view.spec().node_gpus[m] > 0 && view.spec().node_owner[m] == kNone)
      nodes_[static_cast<size_t>(node_type(m))].push_back(m);
  }
  refresh();
}

void Foretell::refresh() {
  on_.resize(static_cast<size_t>(view_.spec().num_nodes));
  for (std::vector<Tenancy>& on : on_) on.clear();
  for (int32_t i = 0; i < view_.num_held(); ++i) {
    const int32_t slot = view_.held(i);
    int32_t nodes = 0;
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      if (view_.part_mask(p) == 0) continue;
      std::vector<Tenancy>& on = on_[static_cast<size_t>(view_.part_node(p))];
      if (on.empty() || on.back().slot != slot) {
        on.push_back({slot, 0, false});
        ++nodes;
      }
      on.back().gpus += count_bits(view_.part_mask(p));
    }
    for (int32_t p = view_.first_part(slot); nodes > 1 && p != kNone; p = view_.next_part(p)) {
      if (view_.part_mask(p) == 0) continue;
      on_[static_cast<size_t>(view_.part_node(p))].back().spread = true;
    }
  }
  for (std::vector<Tenancy>& on : on_) {
    std::sort(on.begin(), on.end(), [&](const Tenancy& a, const Tenancy& b) {
      return view_.serial(a.slot) < view_.serial(b.slot);
    });
  }
}

int32_t Foretell::job_class(int32_t slot) const {
  const int32_t* classes = fixed().jobs.speed_class;
  return classes == nullptr ? 0 : classes[view_.state_->job[slot]];
}

bool Foretell::named(int32_t slot) const {
  const SpeedColumns& speed = view_.speeds();
  return fixed().rated && speed.num_classes > 0 && speed.class_kind[job_class(slot)] >= 0;
}

int32_t Foretell::model(int32_t slot) const {
  if (named(slot)) return view_.speeds().class_kind[job_class(slot)];
  const int32_t* rows = fixed().jobs.model_row;
  return rows == nullptr ? kNone : rows[view_.state_->job[slot]];
}

bool Foretell::modelled(int32_t slot) const {
  return named(slot) && view_.gpus(slot) >= 1 && view_.gpus(slot) <= view_.speeds().max_gpus;
}

int32_t Foretell::servers(int32_t slot) const {
  if (!view_.shaped(slot)) return 0;
  int32_t out = 0;
  for (int32_t g = 0; g < view_.num_groups(slot); ++g) {
    const TaskNeed need = view_.task_need(slot, g);
    if (need.gpus + need.gpu_milli == 0) out += view_.asked_tasks(slot, g);
  }
  return out;
}

std::vector<Piece> Foretell::with_gpus(int32_t slot, std::span<const Piece> pieces) const {
  std::vector<Piece> out;
  for (const Piece& p : pieces) {
    const TaskNeed need = view_.task_need(slot, p.group);
    if (need.gpus + need.gpu_milli == 0) continue;
    const auto same = std::find_if(out.begin(), out.end(),
                                   [&](const Piece& other) { return other.node == p.node; });
    if (same == out.end()) {
      out.push_back(p);
    } else {
      same->gpus += p.gpus;
    }
  }
  return out;
}

double Foretell::alone(int32_t slot, int32_t node, int32_t gpus, int32_t servers,
                       Pattern by) const {
  const int32_t most = fixed().spec.max_node_gpus, nodes = (gpus + most - 1) / most;
  const Tier tier = nodes > 1 ? Tier::kRack : tier_on_node(fixed().spec, node, gpus);
  return speed_of(view_.speeds(), job_class(slot), node_type(node), gpus, tier, nodes, servers, by);
}

double Foretell::together(int32_t slot, int32_t type) const {
  const auto& nodes = nodes_[static_cast<size_t>(type)];
  if (nodes.empty() || (view_.types_of(slot) >> type & 1) == 0) return 0;
  if (modelled(slot)) return alone(slot, nodes.front(), view_.gpus(slot), servers(slot));
  return view_.speed_on(slot, nodes.front());
}

double Foretell::best(int32_t slot) const {
  double most = 0;
  for (int32_t t = 0; t < num_types(); ++t) most = std::max(most, together(slot, t));
  return most;
}

int64_t Foretell::burden_on(int32_t slot, int32_t node, std::span<const int32_t> leaving) const {
  int64_t sum = 0;
  for (const Tenancy& other : on(node)) {
    if (other.slot == slot || !named(other.slot) || among(leaving, other.slot)) continue;
    const double rate =
        pair_rate(view_.speeds(), job_class(slot), job_class(other.slot), node_type(node));
    sum += burden(fixed().spec.neighbour_weight, other.gpus, fixed().spec.node_gpus[node], rate);
  }
  return sum;
}

Foretell::Lie Foretell::lie(int32_t slot, std::span<const Piece> pieces, Pattern by) const {
  const SpecColumns& spec = fixed().spec;
  const int32_t gpus = view_.gpus(slot), its_servers = servers(slot);
  Lie out;
  out.nodes = static_cast<int32_t>(pieces.size());
  out.tier = tier_on_node(spec, pieces.front().node, gpus);
  for (const Piece& p : pieces.subspan(1)) {
    out.tier = std::max(out.tier, Tier::kRack);
    const bool rack = spec.node_rack[p.node] == spec.node_rack[pieces.front().node];
    const bool pod = spec.node_pod[p.node] == spec.node_pod[pieces.front().node];
    if (!rack) out.tier = std::max(out.tier, Tier::kPod);
    if (!pod) out.tier = Tier::kCore;
  }
  for (const Piece& p : pieces) {
    if (out.slowest != kNone && node_type(p.node) == node_type(out.slowest)) continue;
    const double here = speed_of(view_.speeds(), job_class(slot), node_type(p.node), gpus, out.tier,
                                 out.nodes, its_servers, by);
    if (out.slowest == kNone || here < out.rate) out.rate = here, out.slowest = p.node;
  }
  return out;
}

Sending Foretell::sending(int32_t slot, std::span<const Piece> pieces, const Lie& lies,
                          const Exchange& exchange) const {
  std::vector<int32_t> nodes;
  for (const Piece& p : pieces) nodes.push_back(p.node);
  const int64_t bytes =
      link_bytes_per_s(view_.speeds(), job_class(slot), node_type(lies.slowest), view_.gpus(slot),
                       lies.tier, lies.nodes, servers(slot), exchange.all_reduce);
  if (bytes == 0) return {};
  return {bytes, exchange.priority, links_of(fixed().spec, nodes, lies.tier)};
}

LinkLoads Foretell::loads_without(int32_t slot, std::span<const int32_t> leaving) const {
  LinkLoads out(fixed(), *view_.state_);
  for (const int32_t other : leaving) out.add(sending_of(fixed(), *view_.state_, other), -1);
  if (!among(leaving, slot)) out.add(sending_of(fixed(), *view_.state_, slot), -1);
  return out;
}

double Foretell::there(int32_t slot, std::span<const Piece> all, std::span<const int32_t> leaving,
                       const Exchange& exchange) const {
  const SpecColumns& spec = fixed().spec;
  std::vector<Piece> kept;
  if (view_.shaped(slot)) kept = with_gpus(slot, all);
  const std::span<const Piece> pieces = view_.shaped(slot) ? kept : all;
  if (pieces.empty()) return 0;
  if (!modelled(slot)) {
    double least = 0;
    for (const Piece& p : pieces) {
      const double here = view_.speed_on(slot, p.node);
      if (least == 0 || here < least) least = here;
    }
    return least;
  }
  const int32_t gpus = view_.gpus(slot);
  const Lie lies = lie(slot, pieces, exchange.all_reduce);
  const int32_t needed = (gpus + spec.max_node_gpus - 1) / spec.max_node_gpus;
  double rate = lies.rate;
  if (anybody_chooses(fixed())) {
    const Sending mine = sending(slot, pieces, lies, exchange);
    LinkLoads loads = loads_without(slot, leaving);
    loads.add(mine, 1);
    const double share =
        exchange_share(view_.speeds(), job_class(slot), node_type(lies.slowest), gpus, lies.tier,
                       lies.nodes, servers(slot), exchange.all_reduce);
    rate *= contention_factor(share, loads.crowding(mine));
  }
  if (spec.shared_exchange && lies.nodes > needed) {
    int32_t most = 1;
    for (const Piece& p : pieces) {
      int32_t k = 1;
      for (const Tenancy& other : on(p.node)) {
        if (other.slot == slot || among(leaving, other.slot)) continue;
        k += other.spread;
      }
      most = std::max(most, k);
    }
    const double together = alone(slot, lies.slowest, gpus, servers(slot), exchange.all_reduce);
    rate *= spread_factor(together, lies.rate, most);
  }
  if (spec.neighbour_weight > 0) {
    int64_t worst = 0;
    for (const Piece& p : pieces) worst = std::max(worst, burden_on(slot, p.node, leaving));
    rate *= burden_factor(worst);
  }
  return rate;
}

Undisturbed Foretell::alone_on(int32_t slot, std::span<const Piece> pieces, Pattern by) const {
  if (!modelled(slot)) return {.speed = there(slot, pieces, {})};
  const Lie lies = lie(slot, pieces, by);
  const double share = exchange_share(view_.speeds(), job_class(slot), node_type(lies.slowest),
                                      view_.gpus(slot), lies.tier, lies.nodes, servers(slot), by);
  return {lies.rate, share, sending(slot, pieces, lies, {by, 0}).bytes_per_s};
}

double Foretell::sized(int32_t slot, int32_t type, std::span<const int32_t> tasks) const {
  const auto& nodes = nodes_[static_cast<size_t>(type)];
  if (nodes.empty() || (view_.types_of(slot) >> type & 1) == 0) return 0;
  int32_t gpus = 0, servers = 0;
  for (size_t g = 0; g < tasks.size(); ++g) {
    const TaskNeed need = view_.task_need(slot, static_cast<int32_t>(g));
    gpus += tasks[g] * need.gpus;
    if (need.gpus + need.gpu_milli == 0) servers += tasks[g];
  }
  if (!named(slot) || gpus < 1 || gpus > view_.speeds().max_gpus) {
    const double share = static_cast<double>(tasks[0]) / view_.asked_tasks(slot, 0);
    return view_.speed_on(slot, nodes.front()) * share;
  }
  return alone(slot, nodes.front(), gpus, servers);
}

double Foretell::now(int32_t slot) const {
  std::vector<Piece> pieces;
  for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
    if (view_.part_mask(p) == 0) continue;
    pieces.push_back({view_.part_node(p), 0, view_.shaped(slot) ? view_.part_group(p) : 0});
  }
  return pieces.empty() ? 1 : there(slot, pieces, {}, view_.exchange(slot));
}

// Does what rate_alone() does, with the speeds which the policy may see.
int32_t Foretell::slowest_type(int32_t slot, const Footing& at) const {
  const int32_t most = view_.speeds().max_gpus, gpus = std::min(at.gpus, most);
  int32_t out = kNone;
  double least = 0;
  for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
    if (view_.part_mask(p) == 0) continue;
    const int32_t node = view_.part_node(p), type = node_type(node);
    const double speed = named(slot) ? speed_of(view_.speeds(), job_class(slot), type, gpus,
                                                at.tier, at.nodes, at.servers, at.by)
                                     : view_.speed_on(slot, node);
    if (out == kNone || speed < least || (speed == least && type < out)) least = speed, out = type;
  }
  return std::max(out, 0);
}

double Foretell::harm_on_links(int32_t slot, std::span<const Piece> pieces,
                               std::span<const int32_t> leaving, const Exchange& exchange) const {
  const ClusterState& s = *view_.state_;
  const Sending mine = sending(slot, pieces, lie(slot, pieces, exchange.all_reduce), exchange);
  if (mine.bytes_per_s == 0) return 0;
  const LinkLoads before = loads_without(slot, leaving);
  LinkLoads after = before;
  after.add(mine, 1);
  std::vector<int32_t> others;  // in order of submission: the order of held() depends on history
  for (int32_t i = 0; i < view_.num_held(); ++i) others.push_back(view_.held(i));
  std::ranges::sort(others, {}, [&](int32_t other) { return view_.serial(other); });
  double lost = 0;
  for (const int32_t other : others) {
    const Sending its = sending_of(fixed(), s, other);
    if (its.bytes_per_s == 0 || other == slot || among(leaving, other)) continue;
    const Footing at = footing_of(fixed(), s, other);
    const int32_t type = slowest_type(other, at);
    const double share = exchange_share(view_.speeds(), job_class(other), type, at.gpus, at.tier,
                                        at.nodes, at.servers, at.by);
    const double was = contention_factor(share, before.crowding(its));
    lost += at.gpus * (1 - contention_factor(share, after.crowding(its)) / was);
  }
  return lost;
}

double Foretell::harm(int32_t slot, std::span<const Piece> pieces, std::span<const int32_t> leaving,
                      const Exchange& exchange) const {
  const SpecColumns& spec = fixed().spec;
  if (!modelled(slot)) return 0;
  double lost = 0;
  if (anybody_chooses(fixed())) {
    std::vector<Piece> kept(pieces.begin(), pieces.end());
    if (view_.shaped(slot)) kept = with_gpus(slot, pieces);
    if (!kept.empty()) lost = harm_on_links(slot, kept, leaving, exchange);
  }
  if (spec.neighbour_weight <= 0) return lost;
  for (const Piece& p : pieces) {
    for (const Tenancy& other : on(p.node)) {
      if (other.slot == slot || !named(other.slot) || among(leaving, other.slot)) continue;
      const int32_t type = node_type(p.node);
      const double rate = pair_rate(view_.speeds(), job_class(other.slot), job_class(slot), type);
      const int64_t more = burden(spec.neighbour_weight, p.gpus, spec.node_gpus[p.node], rate);
      lost += other.gpus * (1 - burden_factor(more));
    }
  }
  return lost;
}

}  // namespace yard
