// Owners of the constant columns of a cluster and of its jobs, one copy for all worlds.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/state/columns.h"
#include "env/sim/state/job_names.h"
#include "env/sim/state/state.h"
#include "env/trace/core/job.h"

namespace yard {

// Owns columns, to which views point. Copies share them.
class OwnedColumns {
 public:
  // Returns where the column stays; null if it is empty.
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

// Pairs of job kinds which do not fit on one GPU, by measurement.
struct PairConflicts {
  static constexpr int32_t kMaxKinds = 64;
  std::vector<int32_t> kind;        // (N)  kNone: no conflicts
  std::vector<uint64_t> conflicts;  // (types, num_kinds)  conflicting kinds, as bits
  int32_t num_kinds = 0;            // 0: all may share a GPU; then `kind` is empty
};

class JobTable {
 public:
  // Requires: jobs by rising submit time (as in every Trace), each of which can run on an empty
  // cluster `spec` (check_jobs_fit_cluster()). `names`: numbers of users and names, which this
  // extends; null: its own.
  JobTable(const std::vector<Job>& jobs, const ClusterSpec& spec, PairConflicts conflicts = {},
           JobNames* names = nullptr);
  const JobColumns& columns() const { return columns_; }

  // (N) classes of SimModel::speed.
  void set_speed_classes(std::vector<int32_t> classes) {
    columns_.speed_class = kept_.keep(std::move(classes));
  }

 private:
  struct Shapes;
  void set_shapes(Shapes shapes, std::vector<int32_t> shape_of_job);
  void link_dependencies(const std::vector<Job>& jobs);
  void add_curves(const std::vector<Job>& jobs);
  void add_names(const std::vector<Job>& jobs, JobNames& names);
  void add_model_speeds(const std::vector<Job>& jobs, const ClusterSpec& spec);

  OwnedColumns kept_;
  JobColumns columns_;
};

// The GPU types of `spec` on which the job runs, as bits.
uint64_t usable_type_bits(const Job& job, const ClusterSpec& spec);

// Sizes of a state for at most `slots` live jobs. Throws InputError if the number of parts exceeds
// 32 bits.
StateSizes sizes_for(const SimModel& fixed, int32_t slots);

}  // namespace yard
