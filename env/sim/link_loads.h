// Loads of links as they would be if some job sent, or did not: for foretelling what full links
// leave of speeds, where somebody may choose how jobs exchange.
//
//   LinkLoads loads(fixed, state);
//   loads.add(sending_of(fixed, state, who_leaves), -1);
//   loads.add(mine, 1);
//   const double longer = loads.crowding(mine);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/sim/exchange.h"

namespace yard {

// What a job puts on links, and on which.
struct Sending {
  int64_t bytes_per_s = 0;
  int32_t priority = 0;
  std::vector<int32_t> links = {};  // each once
};

// The links that a job spans which has GPUs on these nodes.
std::vector<int32_t> links_of(const SpecColumns& spec, std::span<const int32_t> nodes, Tier tier);

// Of a job as it runs now; one that does not sends nothing.
Sending sending_of(const Fixed& fixed, const ClusterState& state, int32_t slot);

class LinkLoads {
 public:
  // Those of the running jobs. Requires: anybody_chooses(fixed), and `fixed` outlives this.
  LinkLoads(const Fixed& fixed, const ClusterState& state);

  void add(const Sending& sending, int64_t sign);
  // How many times as long the exchange of who sends that takes. Requires: it is among the loads.
  double crowding(const Sending& sending) const;

 private:
  int64_t capacity(int32_t link) const;

  const SpecColumns* spec_;
  int32_t links_;
  std::vector<int64_t> loads_;  // (kLinkPriorities, links)
};

}  // namespace yard
