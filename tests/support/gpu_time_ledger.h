// Counts where all GPU time went from what each state holds. Units are thousandths of GPUs times
// microseconds, so that shares and sums are whole numbers.
//
//   GpuTimeLedger ledger(scene.fixed());
//   while (runner.step()) ledger.observe(runner.state());
//   EXPECT_EQ(ledger.spent().all(), 1000 * gpus * time);
#pragma once

#include <cstdint>
#include <vector>

#include "env/sim/state/columns.h"
#include "env/sim/state/state.h"

namespace yard::testing {

struct GpuTimeMilliUs {
  int64_t running = 0;
  int64_t starting = 0;    // held, but waiting for saves of preempted jobs, or restoring
  int64_t unassigned = 0;  // the free remainder of shared GPUs
  int64_t saving = 0;      // whole free GPUs from which preempted jobs still save
  int64_t free = 0;
  int64_t down = 0;
  int64_t all() const { return running + starting + unassigned + saving + free + down; }
};

class GpuTimeLedger {
 public:
  // Requires: the data which `fixed` points to outlives this.
  explicit GpuTimeLedger(const SimModel& fixed) : fixed_(fixed) {}

  // Call after every step.
  void observe(const SimState& s);

  const GpuTimeMilliUs& spent() const { return spent_; }

  // Totals of a job which has ended.
  struct Ended {
    int64_t attained_us = 0;
    double work_done_us = 0;
    int32_t failed = 0;
  };
  const Ended& ended(int32_t job) const { return ended_[static_cast<size_t>(job)]; }

 private:
  void pass(int64_t to_us);
  void count(const SimState& s);

  SimModel fixed_;
  GpuTimeMilliUs spent_;
  std::vector<Ended> ended_;  // (N)
  // As of the last state.
  int64_t now_us_ = -1;
  GpuTimeMilliUs held_;              // thousandths of GPUs; `free` includes those being saved from
  std::vector<int64_t> left_at_us_;  // when saving ends, per free GPU
};

}  // namespace yard::testing
