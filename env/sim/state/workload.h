// A trace prepared for simulation: requested jobs, and their run times, which only `Truth` shows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "env/sim/state/tables.h"
#include "env/sim/state/truth.h"
#include "env/trace/core/job.h"

namespace yard {

// Sorts faults by time, and adds repairs and the ends of reclaims. Requires: `faults` has no
// repairs, and each fault ends after it begins.
std::vector<Fault> add_fault_ends(std::vector<Fault> faults);

class Workload {
 public:
  Workload(const Trace& trace, const ClusterSpec& spec, GpuSharingConflicts conflicts = {});

  const JobTable& jobs() const { return jobs_; }
  Truth truth() const {
    return {work_us_.data(), faults_.data(), static_cast<int32_t>(faults_.size())};
  }
  // Sets each job's class (N) in the speed table of the simulation.
  void set_speed_classes(std::vector<int32_t> classes) {
    jobs_.set_speed_classes(std::move(classes));
  }
  // Sets the future faults, in any order. A World with faults needs SimModel::faults.
  void set_faults(std::vector<Fault> faults) { faults_ = add_fault_ends(std::move(faults)); }
  bool has_faults() const { return !faults_.empty(); }
  int32_t size() const { return static_cast<int32_t>(work_us_.size()); }
  // Returns whether metrics count `job`, a job of the scored window.
  bool scored(int32_t job) const { return scored_[static_cast<size_t>(job)] != 0; }

 private:
  JobTable jobs_;
  std::vector<int64_t> work_us_;
  std::vector<uint8_t> scored_;
  std::vector<Fault> faults_;  // by time
};

}  // namespace yard
