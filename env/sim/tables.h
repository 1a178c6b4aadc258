// The owners of what never changes: a cluster and the jobs asked for, turned into the columns that
// rules read, one copy for all worlds. What nobody may know is not in them.
#pragma once

#include <cstdint>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/columns.h"
#include "env/sim/state.h"
#include "env/trace/job.h"

namespace yard {

class SpecTable {
 public:
  explicit SpecTable(const ClusterSpec& spec);
  SpecColumns columns() const;

 private:
  std::vector<int32_t> gpus_, gpu0_, rack_, nodes_of_size_;
  std::vector<double> speed_;
  int32_t total_gpus_ = 0, max_node_gpus_ = 0;
};

class JobTable {
 public:
  // Requires: jobs by rising submit time (as every Trace has them).
  explicit JobTable(const std::vector<Job>& jobs);
  JobColumns columns() const;

 private:
  std::vector<int32_t> gpus_, size_class_, user_, class_gpus_;
  std::vector<int64_t> submit_us_, limit_us_;
  int32_t num_users_ = 0;
};

// Sizes of a state for at most `slots` live jobs.
StateSizes sizes_for(const Fixed& fixed, int32_t slots);

}  // namespace yard
