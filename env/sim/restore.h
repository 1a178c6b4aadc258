// A state that was told instead of simulated: what a live cluster says of itself, put in job by
// job.
//
//   LiveState live(fixed, slots, now_us);
//   live.restore({.job = 0, .phase = Phase::kRunning, .parts = parts, ...});
//   live.vacate(node, mask, until_us);
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "env/sim/columns.h"
#include "env/sim/state.h"

namespace yard {

// GPUs of one node, as bits of its word.
struct LivePart {
  int32_t node = kNone;
  uint64_t mask = 0;
};

struct LiveJob {
  int32_t job = kNone;  // index into the job table
  Phase phase = Phase::kWaiting;
  int64_t since_us = 0;     // when the phase began; done: when the job ended
  int64_t until_us = 0;     // starting, stopping: when it ends
  int64_t saved_us = 0;     // starting, stopping: when its last save is complete
  int64_t attained_us = 0;  // time run so far, now included
  int32_t preempted = 0;
  int32_t started = 0;
  bool pinned = false;
  std::vector<LivePart> parts;  // starting, running
};

// Puts a job into a state. All jobs count as changed; waiting ones queue in the order of the calls.
// A job that is done can be read until the state is thrown away: so policies learn of it.
// Requires: a free slot, each job once, since_us <= now; GPUs that are free, as many as the job
// asks for, where it holds any; attained_us at least the time since since_us where it runs. Returns
// its slot.
int32_t restore_job(const Fixed& fixed, ClusterState& state, const LiveJob& job);

// Says that GPUs, owned or not, are still being left by somebody until then.
void restore_vacating(const Fixed& fixed, ClusterState& state, const LivePart& part,
                      int64_t until_us);

// Owns the block behind such a state.
class LiveState {
 public:
  // Requires: what `fixed` points to outlives this.
  LiveState(const Fixed& fixed, int32_t slots, int64_t now_us);

  const Fixed& fixed() const { return fixed_; }
  ClusterState& state() { return state_; }
  const ClusterState& state() const { return state_; }

 private:
  struct Free {
    void operator()(std::byte* block) const { std::free(block); }
  };

  Fixed fixed_;
  std::unique_ptr<std::byte, Free> block_;
  ClusterState state_;
};

}  // namespace yard
