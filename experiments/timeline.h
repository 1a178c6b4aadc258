// Who held which GPU when, as a trace that Perfetto (ui.perfetto.dev) and Chrome show: a process
// for each policy, a lane for each GPU, a slice for each stay of a job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/free_map.h"
#include "env/sim/state.h"
#include "experiments/scenario.h"

namespace yard {

class Timeline {
 public:
  // Requires: the scenario outlives this.
  explicit Timeline(const Scenario& scenario);

  // Begins the next policy's lanes.
  void begin(const std::string& policy);
  // Sees the state after a decision: RunOptions::watch.
  void watch(const ClusterState& state);
  // Ends what is still on a GPU.
  void end(int64_t now_us);

  // Returns the JSON document.
  std::string json() const;

 private:
  struct Lane {
    int32_t job = kNone;
    int64_t since_us = 0;
  };
  void close(size_t gpu, int64_t now_us);

  const Scenario& scenario_;
  std::vector<Lane> lanes_;      // (G)
  std::vector<int32_t> holder_;  // (G)
  int process_ = -1;
  std::string events_;
};

}  // namespace yard
