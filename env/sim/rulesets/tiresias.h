// Parts of the rule set `tiresias`: its placement, and its schedulers except the FIFO engine.
#pragma once

#include <cstdint>
#include <vector>

#include "env/sim/rulesets/slot_sim.h"

namespace yard {

// Placement "yarn": a job that fits on a node goes to the first node with room. A larger job takes
// idle nodes of one switch in node order, and another node of that switch for the remaining GPUs.
class YarnPlacer final : public GangPlacer {
 public:
  // Throws InputError unless all nodes have the same number of GPUs.
  explicit YarnPlacer(const SpecColumns& spec);

  int32_t place(const int32_t* free, int32_t gpus, Piece* out) const override;

 private:
  int32_t place_across_nodes(const std::vector<int32_t>& nodes, const int32_t* free, int32_t gpus,
                             Piece* out) const;

  int32_t node_gpus_;
  std::vector<std::vector<int32_t>> switches_;  // nodes of each rack; racks in order of first node
};

enum class SortedBy { kGpus, kRemaining, kRemainingGpus };

// Replays with jobs sorted by `order`. If `yarn` is null, only the number of free GPUs counts.
Outcome replay_sorted(RuleSetSimBySlot& sim, SortedBy order, const SpecColumns& spec,
                      const YarnPlacer* yarn);

struct DlasMode {
  bool gpu_time = false;  // whether attained service is time x GPUs
  double starvation = 0;  // promotes a job that waited this many times the time it ran; 0: never
};

Outcome replay_dlas(RuleSetSimBySlot& sim, const DlasMode& mode, const SimModel& fixed);

}  // namespace yard
