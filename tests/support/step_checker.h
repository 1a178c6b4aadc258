// Checks each state of a simulated test with broken_invariant(), and what one state cannot show:
//   - The clock, the counters and the integrals never decrease.
//   - The integrals match the states: GPUs held, down and free add up to the cluster.
//   - Nothing is given twice. A preempted job occupies GPUs, CPUs and memory while it saves, though
//     the state counts them as free. At every later moment, saving and running jobs fit together.
//
//   StepChecker checker(scene.fixed());
//   ... .watch = checker.watcher() ...
//   EXPECT_EQ(checker.broken(), "");
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "env/sim/state/columns.h"
#include "env/sim/state/state.h"

namespace yard::testing {

class StepChecker {
 public:
  // Requires: the data which `fixed` points to outlives this.
  explicit StepChecker(const SimModel& fixed) : fixed_(fixed) {}

  // Call after every step. broken() keeps the first violation found.
  void observe(const SimState& s);
  const std::string& broken() const { return broken_; }
  std::function<void(const SimState&)> watcher() {
    return [this](const SimState& s) { observe(s); };
  }

 private:
  // A part of a node, as held by one job.
  struct Holding {
    int32_t node = 0;
    uint64_t mask = 0;
    int32_t gpu_milli = 0;  // of each GPU
    int64_t gpu_mem_mib = 0, cpu_milli = 0, mem_mib = 0;
    int64_t from_us = 0, until_us = 0;
  };
  struct HeldJob {
    int32_t preempted = 0;
    int64_t saved_us = 0;
    std::vector<Holding> holdings;
  };

  std::vector<Holding> holdings_of(const SimState& s, int32_t slot) const;
  std::string decreased(const SimState& s);
  std::string overcommitted(const SimState& s);
  std::string overcommitted_at(int64_t at_us, const std::vector<Holding>& holdings) const;

  SimModel fixed_;
  std::string broken_;
  bool begun_ = false;
  StateHeader last_ = {};
  std::map<int32_t, HeldJob> held_jobs_;  // by job
  std::vector<Holding> leaving_;
};

}  // namespace yard::testing
