// How full a cluster was and how long its queue, over the time of a replay: means over equal slices
// of time, small enough for a page.
//   {"series":[{"policy","information","bound","gpus","from_s","to_s","t_s":[..],"held_gpus":[..],
//               "waiting":[..]}]}
// `t_s` are the slices' middles, `from_s` to `to_s` is the scored window.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "env/sim/state.h"
#include "experiments/replay.h"
#include "experiments/scenario.h"

namespace yard {

class Series {
 public:
  // Begins the next policy.
  void begin() { steps_.clear(); }

  // Sees the state after a decision: RunOptions::watch.
  void watch(const ClusterState& state);

  // Whether the state was ever shown since begin(): rules without GPUs of their own show none.
  bool seen() const { return !steps_.empty(); }

  // Ends the policy that played `run`.
  void end(const Scenario& scenario, const Run& run);

  nlohmann::ordered_json json() const { return {{"series", done_}}; }

 private:
  struct Step {
    int64_t at_us;
    int32_t free_gpus, waiting;  // from then on
  };
  std::vector<Step> steps_;
  nlohmann::ordered_json done_ = nlohmann::ordered_json::array();
};

}  // namespace yard
