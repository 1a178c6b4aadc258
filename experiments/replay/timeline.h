// Writes a replay as a trace for Perfetto (ui.perfetto.dev) and Chrome. Each policy has a process
// for its queue (counters, and a span per wait, by reason) and one for each node, with a lane per
// GPU. Slices are `start` (restoring, or waiting for a GPU to be vacated), `run` and `save`. Jobs
// that share a GPU have further lanes. Events are streamed as they end, so memory use stays
// bounded.
//
//   Timeline timeline(scenario, [&](std::string_view text) { file.write(text); });
//   timeline.begin("las");
//   ...
//   timeline.end(run.outcome.end_us);
//   timeline.finish();
#pragma once

#include <string_view>

#include "env/sim/state/state.h"
#include "experiments/replay/waits.h"
#include "experiments/scenario/scenario.h"

namespace yard {

class Timeline {
 public:
  using Sink = std::function<void(std::string_view)>;

  // Requires: the scenario outlives this object.
  Timeline(const Scenario& scenario, Sink sink);

  // Starts the lanes of the next policy.
  void begin(const std::string& policy);
  // Records the state after a decision: RunOptions::watch.
  void record_state(const SimModel& fixed, const SimState& state);
  // Adds a wait that has ended: the callback for Waits.
  void add_wait(const Wait& wait);
  // Closes all open slices.
  void end(int64_t now_us);

  // Ends the JSON document.
  void finish();

 private:
  // A GPU, or a share of one, which a job holds.
  struct HeldLane {
    int32_t gpu;
    int32_t lane;  // index of the lane; 0: the GPU's own lane, others: lanes of jobs that share it
  };
  struct PhaseSpan {  // one phase of a job on its GPUs
    int32_t job = kNone;
    Phase phase = Phase::kFree;
    int64_t since_us = 0;
    int64_t seen = 0;
    std::vector<HeldLane> holds;
  };
  struct CheckpointSave {  // a save that continues on a GPU after its job has left
    int32_t job = kNone;
    int64_t from_us = 0, until_us = 0;
  };

  void write_event(const std::string& fields);
  void write_slice(int32_t gpu, int32_t lane, int32_t job, const char* what, int64_t from_us,
                   int64_t to_us);
  void name_lane(int32_t gpu, int32_t lane);
  void open_phase_span(const SimModel& fixed, const SimState& state, int32_t slot);
  // `state`: tells whether a leaving job still saves; null at the end.
  void close(PhaseSpan& phase_span, const SimState* state, int64_t now_us);
  void end_checkpoint_save(int32_t gpu, int64_t now_us);
  bool is_unchanged(const SimState& state, int32_t slot, const PhaseSpan& phase_span) const;
  int64_t queue_trace_pid() const;

  const Scenario& scenario_;
  Sink sink_;
  std::vector<int32_t> node_of_;        // (G)
  std::vector<PhaseSpan> phase_spans_;  // by slot
  std::vector<int32_t> open_slots_;     // slots that hold GPUs
  std::vector<CheckpointSave> saves_;   // (G)
  std::vector<uint64_t> lanes_;         // (G)  bits of lanes in use
  std::vector<uint64_t> named_;         // (G)  bits of lanes with a name
  int64_t step_ = 0;
  int64_t policy_ = -1;               // index of the current policy
  int32_t waiting_ = -1, free_ = -1;  // last written values
  bool any_ = false;                  // whether an event was written
};

}  // namespace yard
