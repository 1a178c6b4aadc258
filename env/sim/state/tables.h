// Owners of the constant columns of a cluster and of its jobs. All worlds share one copy of
// these columns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/state/columns.h"
#include "env/sim/state/job_names.h"
#include "env/sim/state/state.h"
#include "env/trace/core/job.h"

namespace yard {

// Owns columns to which views point. Copies of an OwnedColumns share the columns.
class OwnedColumns {
 public:
  // Stores the column and returns its address; null if the column is empty.
  template <class T>
  const T* keep(std::vector<T> column) {
    if (column.empty()) return nullptr;
    const auto kept = std::make_shared<const std::vector<T>>(std::move(column));
    columns_.push_back(kept);
    return kept->data();
  }

 private:
  std::vector<std::shared_ptr<const void>> columns_;
};

class SpecTable {
 public:
  explicit SpecTable(const ClusterSpec& spec);
  const SpecColumns& columns() const { return columns_; }

 private:
  OwnedColumns kept_;
  SpecColumns columns_;
};

// Pairs of job kinds which do not fit on one GPU according to measurements.
struct GpuSharingConflicts {
  static constexpr int32_t kMaxKinds = 64;
  std::vector<int32_t> kind;        // (N)  kNone: no conflicts
  std::vector<uint64_t> conflicts;  // (types, num_kinds)  conflicting kinds, as bits
  int32_t num_kinds = 0;            // 0: all jobs may share GPUs, and `kind` is empty
};

class JobTable {
 public:
  // Requires: jobs are in order of submission, as in every Trace, and each job can run on an empty
  // cluster `spec` (check_jobs_fit_cluster()). Extends `names`, the numbers of users and job names;
  // null: uses new numbers.
  JobTable(const std::vector<Job>& jobs, const ClusterSpec& spec,
           GpuSharingConflicts conflicts = {}, JobNames* names = nullptr);
  // Makes the table of the jobs pointed to, which need not outlive the call.
  JobTable(std::span<const Job* const> jobs, const ClusterSpec& spec,
           GpuSharingConflicts conflicts = {}, JobNames* names = nullptr);
  const JobColumns& columns() const { return columns_; }

  // Sets each job's class (N) in the speed table SimModel::speed.
  void set_speed_classes(std::vector<int32_t> classes) {
    columns_.speed_class = kept_.keep(std::move(classes));
  }

 private:
  struct Shapes;
  void set_shapes(Shapes shapes, std::vector<int32_t> shape_of_job);
  void link_dependencies(std::span<const Job* const> jobs);
  void add_training_curves(std::span<const Job* const> jobs);
  void add_names(std::span<const Job* const> jobs, JobNames& names);
  void add_model_speeds(std::span<const Job* const> jobs, const ClusterSpec& spec);

  OwnedColumns kept_;
  JobColumns columns_;
};

// Returns the GPU types of `spec` on which the job can run, as bits.
uint64_t usable_type_bits(const Job& job, const ClusterSpec& spec);

// Returns the sizes of a state for at most `slots` live jobs. Throws InputError if the number of
// parts exceeds 32 bits.
StateSizes sizes_for(const SimModel& fixed, int32_t slots);

}  // namespace yard
