// Who held which GPU when, and who waited for what, as a trace that Perfetto (ui.perfetto.dev) and
// Chrome show. Each policy has a process for its queue (a span a wait, by reason, and counters) and
// one for each node, with a lane for each GPU: slices `start` (restoring, or waiting for who leaves
// the GPU), `run` and `save`. Who shares a GPU gets a lane beside it. Events are handed on as they
// end, so that the trace never lies in memory as a whole.
//
//   Timeline timeline(scenario, [&](std::string_view text) { file.write(text); });
//   timeline.begin("las");
//   ...
//   timeline.end(run.outcome.end_us);
//   timeline.finish();
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "env/sim/state.h"
#include "experiments/scenario.h"
#include "experiments/waits.h"

namespace yard {

class Timeline {
 public:
  using Sink = std::function<void(std::string_view)>;

  // Requires: the scenario outlives this.
  Timeline(const Scenario& scenario, Sink sink);

  // Begins the next policy's lanes.
  void begin(const std::string& policy);
  // Sees the state after a decision: RunOptions::watch.
  void watch(const Fixed& fixed, const ClusterState& state);
  // Takes a wait that has ended: Waits' callback.
  void wait(const Wait& wait);
  // Ends what is still on a GPU.
  void end(int64_t now_us);

  // Ends the JSON document.
  void finish();

 private:
  // One GPU, or a part of it, that a job holds.
  struct Hold {
    int32_t gpu;
    int32_t lane;  // 0: the GPU's own, others: shares beside it
  };
  struct Stay {  // of a job, in one phase
    int32_t job = kNone;
    Phase phase = Phase::kFree;
    int64_t since_us = 0;
    int64_t seen = 0;
    std::vector<Hold> holds;
  };
  struct Save {  // goes on on a GPU that its job has left
    int32_t job = kNone;
    int64_t from_us = 0, until_us = 0;
  };

  void event(const std::string& fields);
  void slice(int32_t gpu, int32_t lane, int32_t job, const char* what, int64_t from_us,
             int64_t to_us);
  void name_lane(int32_t gpu, int32_t lane);
  void open(const Fixed& fixed, const ClusterState& state, int32_t slot);
  // `state`: where a job that leaves may still save; null at the end.
  void close(Stay& stay, const ClusterState* state, int64_t now_us);
  void end_save(int32_t gpu, int64_t now_us);
  bool goes_on(const ClusterState& state, int32_t slot, const Stay& stay) const;
  int64_t queue_pid() const;

  const Scenario& scenario_;
  Sink sink_;
  std::vector<int32_t> node_of_;  // (G)
  std::vector<Stay> stays_;       // by slot
  std::vector<int32_t> holders_;  // slots with a stay
  std::vector<Save> saves_;       // (G)
  std::vector<uint64_t> lanes_;   // (G)  taken, as bits
  std::vector<uint64_t> named_;   // (G)  lanes that have a name
  int64_t look_ = 0;
  int64_t policy_ = -1;               // index of the present one
  int32_t waiting_ = -1, free_ = -1;  // as last counted
  bool any_ = false;                  // event handed on
};

}  // namespace yard
