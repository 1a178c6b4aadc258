#include "env/sim/placement/throughput_model.h"

#include <algorithm>

namespace yard {
namespace {

bool contains(std::span<const int32_t> slots, int32_t slot) {
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

}  // namespace

std::vector<Piece> held_pieces(const View& view, int32_t slot) {
  const bool shaped = view.shaped(slot);
  std::vector<Piece> out;
  for (int32_t p = view.first_part(slot); p != kNone; p = view.next_part(p)) {
    out.push_back({view.part_node(p), count_bits(view.part_mask(p)),
                   shaped ? view.part_role_group(p) : 0, shaped ? view.part_tasks(p) : 0});
  }
  return out;
}

ThroughputModel::ThroughputModel(const View& view)
    : view_(view), nodes_(static_cast<size_t>(view.spec().num_types)) {
  for (int32_t m = 0; m < view.spec().num_nodes; ++m) {
    if (view.spec().node_gpus[m] > 0 && view.spec().node_owner[m] == kNone)
      nodes_[static_cast<size_t>(node_type(m))].push_back(m);
  }
  update_occupants();
}

void ThroughputModel::update_occupants() {
  occupants_.resize(static_cast<size_t>(view_.spec().num_nodes));
  for (std::vector<NodeOccupant>& on : occupants_) on.clear();
  for (const int32_t slot : view_.holder_slots()) {
    int32_t nodes = 0;
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      if (view_.part_mask(p) == 0) continue;
      std::vector<NodeOccupant>& on = occupants_[static_cast<size_t>(view_.part_node(p))];
      if (on.empty() || on.back().slot != slot) {
        on.push_back({slot, 0, false});
        ++nodes;
      }
      on.back().gpus += count_bits(view_.part_mask(p));
    }
    for (int32_t p = view_.first_part(slot); nodes > 1 && p != kNone; p = view_.next_part(p)) {
      if (view_.part_mask(p) == 0) continue;
      occupants_[static_cast<size_t>(view_.part_node(p))].back().spread = true;
    }
  }
  for (std::vector<NodeOccupant>& on : occupants_) {
    std::ranges::sort(on, {}, [&](const NodeOccupant& o) { return view_.serial(o.slot); });
  }
}

bool ThroughputModel::has_measured_model(int32_t slot) const {
  const SpeedColumns& speed = view_.speeds();
  return fixed().rated && speed.num_classes > 0 && speed.class_kind[job_class(slot)] >= 0;
}

int32_t ThroughputModel::model_variant_index(int32_t slot) const {
  return has_measured_model(slot) ? view_.speeds().class_kind[job_class(slot)]
                                  : view_.job_column_entry(fixed().jobs.model_row, slot, kNone);
}

bool ThroughputModel::has_speed_in_tables(int32_t slot) const {
  return has_measured_model(slot) && view_.gpus(slot) >= 1 &&
         view_.gpus(slot) <= view_.speeds().max_gpus;
}

int32_t ThroughputModel::num_requested_servers(int32_t slot) const {
  if (!view_.shaped(slot)) return 0;
  int32_t out = 0;
  for (int32_t g = 0; g < view_.num_groups(slot); ++g) {
    const TaskNeed need = view_.task_need(slot, g);
    if (need.gpus + need.gpu_milli == 0) out += view_.requested_tasks(slot, g);
  }
  return out;
}

std::vector<Piece> ThroughputModel::gpu_pieces(int32_t slot, std::span<const Piece> pieces) const {
  std::vector<Piece> out;
  for (const Piece& p : pieces) {
    const TaskNeed need = view_.task_need(slot, p.group);
    if (need.gpus + need.gpu_milli == 0) continue;
    const auto same = std::ranges::find(out, p.node, &Piece::node);
    if (same == out.end()) {
      out.push_back(p);
    } else {
      same->gpus += p.gpus;
    }
  }
  return out;
}

double ThroughputModel::consolidated_throughput_on_type_of(int32_t slot, int32_t node, int32_t gpus,
                                                           int32_t servers, Pattern by) const {
  const int32_t most = fixed().spec.max_node_gpus, nodes = (gpus + most - 1) / most;
  const Tier tier = nodes > 1 ? Tier::kRack : tier_on_node(fixed().spec, node, gpus);
  return speed_of(view_.speeds(), job_class(slot), node_type(node), gpus, tier, nodes, servers, by);
}

double ThroughputModel::consolidated_throughput(int32_t slot, int32_t type) const {
  const auto& nodes = nodes_[static_cast<size_t>(type)];
  if (nodes.empty() || (view_.allowed_type_bits(slot) >> type & 1) == 0) return 0;
  if (has_speed_in_tables(slot))
    return consolidated_throughput_on_type_of(slot, nodes.front(), view_.gpus(slot),
                                              num_requested_servers(slot));
  return view_.speed_on(slot, nodes.front());
}

double ThroughputModel::best_throughput(int32_t slot) const {
  double most = 0;
  for (int32_t t = 0; t < num_types(); ++t) most = std::max(most, consolidated_throughput(slot, t));
  return most;
}

ThroughputModel::PlacementTopology ThroughputModel::placement_topology(
    int32_t slot, std::span<const Piece> pieces, Pattern by) const {
  const SpecColumns& spec = fixed().spec;
  const int32_t gpus = view_.gpus(slot), its_servers = num_requested_servers(slot);
  PlacementTopology out;
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

JobLinkTraffic ThroughputModel::link_traffic(int32_t slot, std::span<const Piece> pieces,
                                             const PlacementTopology& topology,
                                             const AllReduceSettings& exchange) const {
  std::vector<int32_t> nodes;
  for (const Piece& p : pieces) nodes.push_back(p.node);
  const int64_t bytes = link_bytes_per_s(
      view_.speeds(), job_class(slot), node_type(topology.slowest), view_.gpus(slot), topology.tier,
      topology.nodes, num_requested_servers(slot), exchange.all_reduce);
  if (bytes == 0) return {};
  return {bytes, exchange.priority, links_of(fixed().spec, nodes, topology.tier)};
}

LinkLoads ThroughputModel::link_loads_of_other_jobs(int32_t slot,
                                                    std::span<const int32_t> without) const {
  LinkLoads out(fixed(), *view_.state_);
  for (const int32_t other : without) out.add(link_traffic_of(fixed(), *view_.state_, other), -1);
  if (!contains(without, slot)) out.add(link_traffic_of(fixed(), *view_.state_, slot), -1);
  return out;
}

double ThroughputModel::throughput(int32_t slot, std::span<const Piece> all,
                                   std::span<const int32_t> without,
                                   const AllReduceSettings& exchange) const {
  const SpecColumns& spec = fixed().spec;
  std::vector<Piece> kept;
  if (view_.shaped(slot)) kept = gpu_pieces(slot, all);
  const std::span<const Piece> pieces = view_.shaped(slot) ? kept : all;
  if (pieces.empty()) return 0;
  if (!has_speed_in_tables(slot)) {
    double least = 0;
    for (const Piece& p : pieces) {
      const double here = view_.speed_on(slot, p.node);
      if (least == 0 || here < least) least = here;
    }
    return least;
  }
  const int32_t gpus = view_.gpus(slot);
  const PlacementTopology topology = placement_topology(slot, pieces, exchange.all_reduce);
  const int32_t needed = (gpus + spec.max_node_gpus - 1) / spec.max_node_gpus;
  double rate = topology.rate;
  if (any_job_may_choose_all_reduce(fixed())) {
    const JobLinkTraffic mine = link_traffic(slot, pieces, topology, exchange);
    LinkLoads loads = link_loads_of_other_jobs(slot, without);
    loads.add(mine, 1);
    const double share = exchange_share(
        view_.speeds(), job_class(slot), node_type(topology.slowest), gpus, topology.tier,
        topology.nodes, num_requested_servers(slot), exchange.all_reduce);
    rate *= contention_throughput_factor(share, loads.exchange_slowdown(mine));
  }
  if (spec.shared_exchange && topology.nodes > needed) {
    int32_t most = 1;
    for (const Piece& p : pieces) {
      int32_t k = 1;
      for (const NodeOccupant& other : occupants(p.node)) {
        if (other.slot == slot || contains(without, other.slot)) continue;
        k += other.spread;
      }
      most = std::max(most, k);
    }
    const double consolidated = consolidated_throughput_on_type_of(
        slot, topology.slowest, gpus, num_requested_servers(slot), exchange.all_reduce);
    rate *= spread_factor(consolidated, topology.rate, most);
  }
  if (spec.neighbour_weight > 0) {
    int64_t worst = 0;
    for (const Piece& p : pieces) {
      int64_t sum = 0;
      for (const NodeOccupant& other : occupants(p.node)) {
        if (other.slot == slot || !has_measured_model(other.slot) || contains(without, other.slot))
          continue;
        const int32_t mine = job_class(slot), its = job_class(other.slot);
        const double pair = pair_rate(view_.speeds(), mine, its, node_type(p.node));
        sum += added_time_ppb(spec.neighbour_weight, other.gpus, spec.node_gpus[p.node], pair);
      }
      worst = std::max(worst, sum);
    }
    rate *= interference_factor(worst);
  }
  return rate;
}

UncontendedThroughput ThroughputModel::isolated_throughput(int32_t slot,
                                                           std::span<const Piece> pieces,
                                                           Pattern by) const {
  if (!has_speed_in_tables(slot)) return {.speed = throughput(slot, pieces, {})};
  const PlacementTopology topology = placement_topology(slot, pieces, by);
  const double share =
      exchange_share(view_.speeds(), job_class(slot), node_type(topology.slowest), view_.gpus(slot),
                     topology.tier, topology.nodes, num_requested_servers(slot), by);
  return {topology.rate, share, link_traffic(slot, pieces, topology, {by, 0}).bytes_per_s};
}

double ThroughputModel::throughput_at_size(int32_t slot, int32_t type,
                                           std::span<const int32_t> tasks) const {
  const auto& nodes = nodes_[static_cast<size_t>(type)];
  if (nodes.empty() || (view_.allowed_type_bits(slot) >> type & 1) == 0) return 0;
  int32_t gpus = 0, servers = 0;
  for (size_t g = 0; g < tasks.size(); ++g) {
    const TaskNeed need = view_.task_need(slot, static_cast<int32_t>(g));
    gpus += tasks[g] * need.gpus;
    if (need.gpus + need.gpu_milli == 0) servers += tasks[g];
  }
  if (!has_measured_model(slot) || gpus < 1 || gpus > view_.speeds().max_gpus) {
    const double share = static_cast<double>(tasks[0]) / view_.requested_tasks(slot, 0);
    return view_.speed_on(slot, nodes.front()) * share;
  }
  return consolidated_throughput_on_type_of(slot, nodes.front(), gpus, servers);
}

double ThroughputModel::current_throughput(int32_t slot) const {
  std::vector<Piece> pieces = held_pieces(view_, slot);
  std::erase_if(pieces, [](const Piece& p) { return p.gpus == 0; });
  return pieces.empty() ? 1 : throughput(slot, pieces, {}, view_.all_reduce_settings(slot));
}

// Does what find_isolated_rate() does, with the speeds which the policy may see.
int32_t ThroughputModel::slowest_type(int32_t slot, const PlacementFootprint& at) const {
  const int32_t most = view_.speeds().max_gpus, gpus = std::min(at.gpus, most);
  int32_t out = kNone;
  double least = 0;
  for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
    if (view_.part_mask(p) == 0) continue;
    const int32_t node = view_.part_node(p), type = node_type(node);
    const double speed = has_measured_model(slot)
                             ? speed_of(view_.speeds(), job_class(slot), type, gpus, at.tier,
                                        at.nodes, at.servers, at.by)
                             : view_.speed_on(slot, node);
    if (out == kNone || speed < least || (speed == least && type < out)) least = speed, out = type;
  }
  return std::max(out, 0);
}

double ThroughputModel::link_interference_cost_to_others(int32_t slot,
                                                         std::span<const Piece> pieces,
                                                         std::span<const int32_t> without,
                                                         const AllReduceSettings& exchange) const {
  const SimState& s = *view_.state_;
  const JobLinkTraffic mine =
      link_traffic(slot, pieces, placement_topology(slot, pieces, exchange.all_reduce), exchange);
  if (mine.bytes_per_s == 0) return 0;
  const LinkLoads before = link_loads_of_other_jobs(slot, without);
  LinkLoads after = before;
  after.add(mine, 1);
  // In order of submission: the order of holder_slots() depends on history.
  std::vector<int32_t> others(view_.holder_slots().begin(), view_.holder_slots().end());
  std::ranges::sort(others, {}, [&](int32_t other) { return view_.serial(other); });
  double lost = 0;
  for (const int32_t other : others) {
    const JobLinkTraffic its = link_traffic_of(fixed(), s, other);
    if (its.bytes_per_s == 0 || other == slot || contains(without, other)) continue;
    const PlacementFootprint at = footprint_of(fixed(), s, other);
    const int32_t type = slowest_type(other, at);
    const double share = exchange_share(view_.speeds(), job_class(other), type, at.gpus, at.tier,
                                        at.nodes, at.servers, at.by);
    const double was = contention_throughput_factor(share, before.exchange_slowdown(its));
    lost += at.gpus * (1 - contention_throughput_factor(share, after.exchange_slowdown(its)) / was);
  }
  return lost;
}

double ThroughputModel::interference_cost(int32_t slot, std::span<const Piece> pieces,
                                          std::span<const int32_t> without,
                                          const AllReduceSettings& exchange) const {
  const SpecColumns& spec = fixed().spec;
  if (!has_speed_in_tables(slot)) return 0;
  double lost = 0;
  if (any_job_may_choose_all_reduce(fixed())) {
    std::vector<Piece> kept(pieces.begin(), pieces.end());
    if (view_.shaped(slot)) kept = gpu_pieces(slot, pieces);
    if (!kept.empty()) lost = link_interference_cost_to_others(slot, kept, without, exchange);
  }
  if (spec.neighbour_weight <= 0) return lost;
  for (const Piece& p : pieces) {
    for (const NodeOccupant& other : occupants(p.node)) {
      if (other.slot == slot || !has_measured_model(other.slot) || contains(without, other.slot))
        continue;
      const int32_t type = node_type(p.node);
      const double rate = pair_rate(view_.speeds(), job_class(other.slot), job_class(slot), type);
      const int64_t more =
          added_time_ppb(spec.neighbour_weight, p.gpus, spec.node_gpus[p.node], rate);
      lost += other.gpus * (1 - interference_factor(more));
    }
  }
  return lost;
}

}  // namespace yard
