#include "env/sim/rules/link_loads.h"

#include <algorithm>

namespace yard {

std::vector<int32_t> links_of(const SpecColumns& spec, std::span<const int32_t> nodes, Tier tier) {
  std::vector<int32_t> out;
  for (const int32_t node : nodes) {
    out.push_back(node);
    if (tier >= Tier::kPod) out.push_back(spec.num_nodes + spec.node_rack[node]);
    if (tier >= Tier::kCore) out.push_back(spec.num_nodes + spec.num_racks + spec.node_pod[node]);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

JobLinkTraffic link_traffic_of(const SimModel& fixed, const SimState& s, int32_t slot) {
  if (s.phase[slot] != Phase::kRunning || s.traffic[slot] == 0) return {};
  std::vector<int32_t> nodes;
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    if (s.part_mask[p] != 0) nodes.push_back(s.part_node[p]);
  }
  return {s.traffic[slot], all_reduce_settings_of(fixed, s, slot).priority,
          links_of(fixed.spec, nodes, static_cast<Tier>(s.tier[slot]))};
}

LinkLoads::LinkLoads(const SimModel& fixed, const SimState& s)
    : spec_(&fixed.spec),
      links_(num_links(fixed.spec)),
      loads_(s.priority_load, s.priority_load + kLinkPriorities * links_) {}

void LinkLoads::add(const JobLinkTraffic& link_traffic, int64_t sign) {
  for (const int32_t link : link_traffic.links) {
    loads_[static_cast<size_t>(link_traffic.priority * links_ + link)] +=
        sign * link_traffic.bytes_per_s;
  }
}

int64_t LinkLoads::link_capacity(int32_t link) const {
  const int32_t rack = link - spec_->num_nodes, pod = rack - spec_->num_racks;
  if (pod >= 0) return spec_->pod_up_bytes[pod];
  return rack >= 0 ? spec_->rack_up_bytes[rack] : spec_->node_up_bytes[link];
}

double LinkLoads::exchange_slowdown(const JobLinkTraffic& link_traffic) const {
  double worst = 1;
  for (const int32_t link : link_traffic.links) {
    const auto load = [&](int32_t priority) {
      return loads_[static_cast<size_t>(priority * links_ + link)];
    };
    worst = std::max(worst, exchange_slowdown_at(link_traffic.priority, link_capacity(link), load));
  }
  return worst;
}

}  // namespace yard
