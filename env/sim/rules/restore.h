// Builds the state of a live cluster from reports: its jobs are entered one by one.
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

// GPUs of a job on one node, as bits of a mask, or tasks of one of its role groups on the node.
struct LivePart {
  int32_t node = kNone;
  uint64_t mask = 0;
  int32_t group = 0;
  int32_t tasks = 0;  // 0: as many tasks as the GPUs suffice for
};

struct LiveJob {
  int32_t job = kNone;  // index into the job table
  Phase phase = Phase::kWaiting;
  int64_t since_us = 0;     // time when the phase began; done: time when the job ended
  int64_t until_us = 0;     // starting, stopping: time when the phase ends
  int64_t saved_us = 0;     // starting, stopping: time when the last save is complete
  int64_t attained_us = 0;  // run time so far, including the present run
  double worked_us = -1;    // work done so far; -1: unknown, taken as the run time so far
  int32_t preempted = 0;
  int32_t started = 0;
  bool pinned = false;
  std::vector<LivePart> parts;  // starting, running
};

// Enters a job, marks it as changed and returns its slot. Waiting jobs queue in the order of calls.
// A finished job stays readable. `slot` is a free slot of reserve_first_slots(); kNone: any free
// slot. Requires: a slot is free; no job is entered twice; jobs that depend on an unfinished job
// are kBlocked; since_us <= now; no job has a share of a GPU. `parts` of a plain job must name as
// many GPUs as the job requests, all free. A running job's attained_us is at least now - since_us.
int32_t restore_job(const SimModel& fixed, SimState& state, const LiveJob& job,
                    int32_t slot = kNone);

// Reserves slots [0, count) for restore_job(). Requires: no slot was used yet.
void reserve_first_slots(const SimModel& fixed, SimState& state, int32_t count);
// Links reserved slots that are still free to the free list, so that later jobs may use them.
void release_reserved_slots(SimState& state);

// Marks the GPUs of `part`, owned or not, as being vacated by a stopping job until `until_us`.
void restore_vacating(const SimModel& fixed, SimState& state, const LivePart& part,
                      int64_t until_us);

// Owns the memory of a live cluster's state.
class LiveState {
 public:
  // Requires: the columns to which `fixed` points outlive this object.
  LiveState(const SimModel& fixed, int32_t slots, int64_t now_us);

  const SimModel& fixed() const { return fixed_; }
  SimState& state() { return state_; }
  const SimState& state() const { return state_; }

  std::vector<std::byte> copy() const { return {block_.get(), block_.get() + bytes_}; }
  // Restores an earlier state. Requires: `earlier` is a result of this object's copy().
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
