// Predicted loads of links after some jobs' traffic is added or removed.
//
//   LinkLoads loads(fixed, state);
//   loads.add(link_traffic_of(fixed, state, leaving), -1);
//   loads.add(mine, 1);
//   const double longer = loads.exchange_slowdown(mine);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/sim/state/exchange.h"

namespace yard {

// A job's traffic and the links that carry the traffic.
struct JobLinkTraffic {
  int64_t bytes_per_s = 0;
  int32_t priority = 0;
  std::vector<int32_t> links = {};  // without duplicates
};

// Returns the links, sorted, of a job that spans `tier` with GPUs on `nodes`.
std::vector<int32_t> links_of(const SpecColumns& spec, std::span<const int32_t> nodes, Tier tier);

// Returns the traffic of a job in `state`; no traffic if the job does not run.
JobLinkTraffic link_traffic_of(const SimModel& fixed, const SimState& state, int32_t slot);

class LinkLoads {
 public:
  // Starts with running jobs' loads. Requires: any_job_may_choose_all_reduce(fixed), `fixed`
  // outlives this.
  LinkLoads(const SimModel& fixed, const SimState& state);

  void add(const JobLinkTraffic& link_traffic, int64_t sign);
  // Returns the factor by which full links lengthen the exchange. Requires: the loads include that
  // of `link_traffic`.
  double exchange_slowdown(const JobLinkTraffic& link_traffic) const;

 private:
  int64_t link_capacity(int32_t link) const;

  const SpecColumns* spec_;
  int32_t links_;
  std::vector<int64_t> loads_;  // (kLinkPriorities, links)  bytes per second
};

}  // namespace yard
