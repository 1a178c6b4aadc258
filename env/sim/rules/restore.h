// A state that is reported, not simulated: jobs of a live cluster, entered one by one.
//
//   LiveState live(fixed, slots, now_us);
//   restore_job(fixed, live.state(), {.job = 0, .phase = Phase::kRunning, .parts = parts, ...});
//   restore_vacating(fixed, live.state(), {node, mask}, until_us);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "env/sim/state/columns.h"
#include "env/sim/state/state.h"

namespace yard {

// GPUs of one node, as bits of its mask, or tasks of a role group.
struct LivePart {
  int32_t node = kNone;
  uint64_t mask = 0;
  int32_t group = 0;
  int32_t tasks = 0;  // 0: as many as the GPUs suffice for
};

struct LiveJob {
  int32_t job = kNone;  // index into the job table
  Phase phase = Phase::kWaiting;
  int64_t since_us = 0;     // when the phase began; done: when the job ended
  int64_t until_us = 0;     // starting, stopping: when the phase ends
  int64_t saved_us = 0;     // starting, stopping: when its last save is complete
  int64_t attained_us = 0;  // run time so far, with the present run
  double worked_us = -1;    // work done so far; -1: unknown, as much as the run time
  int32_t preempted = 0;
  int32_t started = 0;
  bool pinned = false;
  std::vector<LivePart> parts;  // starting, running
};

// Enters a job and returns its slot. All jobs count as changed. Waiting jobs queue in the order of
// the calls. A finished job stays readable. `slot`: a free one of reserve_slots(); kNone: any.
// Requires: a free slot; each job once; kBlocked if it depends on an unfinished job; since_us <=
// now; no shares of GPUs. A plain job with GPUs needs as many free GPUs as it requests. A running
// job has attained_us of at least the time since since_us.
int32_t restore_job(const SimModel& fixed, SimState& state, const LiveJob& job,
                    int32_t slot = kNone);

// Makes slots [0, count) free ones. Requires: no slot was used yet.
void reserve_slots(const SimModel& fixed, SimState& state, int32_t count);
// Links those left free, so that later jobs may use them.
void release_reserved_slots(SimState& state);

// Marks GPUs, owned or not, as being vacated by a stopping job until then.
void restore_vacating(const SimModel& fixed, SimState& state, const LivePart& part,
                      int64_t until_us);

// Owns the memory of a reported state.
class LiveState {
 public:
  // Requires: what `fixed` points to outlives this.
  LiveState(const SimModel& fixed, int32_t slots, int64_t now_us);

  const SimModel& fixed() const { return fixed_; }
  SimState& state() { return state_; }
  const SimState& state() const { return state_; }

  std::vector<std::byte> copy() const { return {block_.get(), block_.get() + bytes_}; }
  // Makes the state what it was. Requires: `earlier` is a copy of this state.
  void restore(const std::vector<std::byte>& earlier) {
    std::copy(earlier.begin(), earlier.end(), block_.get());
  }

 private:
  struct FreeDeleter {
    void operator()(std::byte* block) const { std::free(block); }
  };

  SimModel fixed_;
  size_t bytes_ = 0;
  std::unique_ptr<std::byte, FreeDeleter> block_;
  SimState state_;
};

}  // namespace yard
