// Owners of constant data: a cluster and its requested jobs, as the columns that rules read, one
// copy for all worlds. They hold nothing of the truth (truth.h).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/state/columns.h"
#include "env/sim/state/state.h"
#include "env/trace/core/job.h"

namespace yard {

class SpecTable {
 public:
  explicit SpecTable(const ClusterSpec& spec);
  SpecColumns columns() const;

 private:
  std::vector<int32_t> gpus_, gpu0_, rack_, nodes_of_size_, type_, type_mem_mib_;
  std::vector<int32_t> pod_, island_gpus_;
  std::vector<int64_t> cpu_milli_, cores_milli_, mem_mib_, node_up_, rack_up_, pod_up_;
  std::vector<int32_t> owner_, tenant_limit_, tenant_quota_, tenant_priority_;
  std::vector<double> tenant_weight_;
  std::vector<uint8_t> tenant_preempts_, type_shares_;
  bool overloads_ = false;
  Slowdowns slowdowns_;
  bool one_type_ = false;
  std::vector<double> speed_;
  int32_t total_gpus_ = 0, max_node_gpus_ = 0;
};

// Which jobs were measured not to fit on one GPU.
struct PairConflicts {
  static constexpr int32_t kMaxKinds = 64;
  std::vector<int32_t> kind;        // (N)  kNone: no conflicts
  std::vector<uint64_t> conflicts;  // (types, num_kinds)  conflicting kinds, as bits
  int32_t num_kinds = 0;            // 0: all may share a GPU; then `kind` is empty
};

class JobTable {
 public:
  // Requires: jobs by rising submit time (as in every Trace), each of which can run on an empty
  // cluster `spec` (check_fits()).
  JobTable(const std::vector<Job>& jobs, const ClusterSpec& spec, PairConflicts conflicts = {});
  JobColumns columns() const;

  // (N) classes of SimModel::speed.
  void set_speed_classes(std::vector<int32_t> classes) { speed_class_ = std::move(classes); }

 private:
  int32_t shape_of(const Job& job, const ClusterSpec& spec, int32_t tenant, int32_t kind);
  void link_dependencies(const std::vector<Job>& jobs);
  void add_curves(const std::vector<Job>& jobs);
  void add_names(const std::vector<Job>& jobs);
  void add_priorities(const std::vector<Job>& jobs);
  void add_model_speeds(const std::vector<Job>& jobs, const ClusterSpec& spec);
  void add_loose_tasks();

  std::vector<int32_t> gpus_, size_class_, user_, name_, class_gpus_, shape_;
  std::vector<int64_t> submit_us_, limit_us_, save_us_, restore_us_;
  int32_t num_users_ = 0, num_names_ = 0;
  std::vector<int32_t> speed_class_, tenant_, shape_tenant_;
  std::vector<int32_t> first_after_, after_job_, parent_;
  int32_t num_parents_ = 0;
  // distinct shapes
  std::vector<int32_t> first_group_{0}, tasks_, min_tasks_, max_tasks_, task_gpus_, task_milli_,
      task_gpu_mem_mib_;
  std::vector<int64_t> task_cpu_milli_, task_mem_mib_;
  std::vector<uint64_t> types_;
  std::map<std::vector<int64_t>, int32_t> shapes_;
  int32_t max_groups_ = 1;
  std::vector<int64_t> loose_tasks_;  // of each shape
  std::vector<int64_t> loose_task_sums_;
  std::vector<int64_t> priority_, due_us_;
  std::vector<double> weight_;
  int32_t num_types_ = 0;
  std::vector<int32_t> model_row_;
  std::vector<double> model_speed_;
  std::vector<int32_t> first_point_;
  std::vector<double> point_work_us_, point_value_, target_, enough_;
  PairConflicts conflicts_;
  std::vector<int32_t> shape_kind_;
  bool has_reserved_nodes_ = false;  // whether some node is for its tenant only
};

// The GPU types of `spec` on which the job runs, as bits.
uint64_t type_bits(const Job& job, const ClusterSpec& spec);

// Sizes of a state for at most `slots` live jobs. Throws InputError if the number of parts exceeds
// 32 bits.
StateSizes sizes_for(const SimModel& fixed, int32_t slots);

}  // namespace yard
