// Constant data of a simulation, as plain columns which the rules read on the CPU and on the GPU.
// The columns are views: their owners (`SpecTable`, `JobTable`) are in CPU memory. Dims: M nodes, G
// GPUs, N jobs of the workload, K classes of equal requests, H shapes, R role groups of all shapes.
#pragma once

#include <cstdint>

#include "env/base/core/check.h"
#include "env/sim/speed/speed.h"

namespace yard {

constexpr int64_t kNever = INT64_MAX;
constexpr int32_t kNone = -1;
constexpr double kMinRate = 1e-3;  // smallest throughput of a running job
constexpr int64_t kUnlimited = int64_t{1} << 40;
constexpr int32_t kWholeGpu = 1000;  // thousandths
constexpr int32_t kMaxShapeTasks = 1024;
constexpr int32_t kMaxNodeGpus = 64;  // a node's GPUs are bits of one word

struct SpecColumns {
  int32_t num_nodes = 0;
  int32_t total_gpus = 0;
  int32_t max_node_gpus = 0;
  const int32_t* node_gpus = nullptr;      // (M)
  const int32_t* node_gpu0 = nullptr;      // (M)  index of the node's first GPU among all GPUs
  const double* node_speed = nullptr;      // (M)  throughput of a GPU; 1 on the reference type
  const int32_t* node_rack = nullptr;      // (M)  nodes of one rack share a switch
  const int32_t* nodes_of_size = nullptr;  // (max_node_gpus + 1)  number of nodes with n GPUs
  int32_t num_racks = 0;
  int32_t num_pods = 0;
  bool overloads = false;                     // whether any node may overcommit its CPUs
  const int32_t* node_pod = nullptr;          // (M)  racks of one pod share a switch
  const int32_t* node_island_gpus = nullptr;  // (M)  GPUs per island (NVLink domain)
  const int64_t* node_cores_milli = nullptr;  // (M)  physical CPUs
  const int64_t* node_up_bytes = nullptr;     // (M)  bytes/s to the rack switch; 0: no limit
  const int64_t* rack_up_bytes = nullptr;     // (racks)  bytes/s to the pod switch; 0: no limit
  const int64_t* pod_up_bytes = nullptr;      // (pods)  bytes/s to the core; 0: no limit
  const int32_t* node_type = nullptr;         // (M)  GPU type
  const int64_t* node_cpu_milli = nullptr;    // (M)  CPUs for jobs; kUnlimited: not specified
  const int64_t* node_mem_mib = nullptr;      // (M)  kUnlimited: not specified
  int32_t num_tenants = 0;
  // (tenants) Limit: most GPUs held at once. Policies use quota (guaranteed GPUs), weight (share of
  // the other GPUs), priority (higher goes first), and preempts (`Preempts`: which jobs a tenant
  // may preempt to reach its quota).
  const int32_t* tenant_limit = nullptr;
  const int32_t* tenant_quota = nullptr;
  const double* tenant_weight = nullptr;
  const int32_t* tenant_priority = nullptr;
  const uint8_t* tenant_preempts = nullptr;
  const int32_t* node_owner = nullptr;    // (M)  tenant with exclusive use; kNone: all tenants
  const uint8_t* type_shares = nullptr;   // (types)  1: GPUs can be shared; 0: always held whole
  const int32_t* type_mem_mib = nullptr;  // (types)  memory of a GPU; INT32_MAX: not specified
  int32_t num_types = 0;
  double neighbour_weight = 0;   // w of added_time_ppb() (colocation.h); 0: no slowdown
  bool shared_exchange = false;  // whether spread_factor() applies (colocation.h)
  bool one_type = false;         // whether all GPUs of a job must be of one type
};

// Shapes are requests for more than a number of GPUs. A plain job has no shape: it takes whole GPUs
// of any type on any nodes.
struct ShapeColumns {
  int32_t num_shapes = 0;
  int32_t max_groups = 1;       // largest number of groups in one shape
  int32_t max_loose_tasks = 0;  // largest number of tasks without a whole GPU ("loose" tasks)
  // (N + 1) loose tasks of the n jobs with most loose tasks; null if no job has loose tasks
  const int64_t* partial_gpu_task_sums = nullptr;
  const int32_t* first_group = nullptr;  // (H + 1)  index into the (R) columns
  const int32_t* tenant = nullptr;       // (H)  the job's tenant, if it owns nodes; else kNone
  const uint64_t* types = nullptr;       // (H)  bit set of acceptable GPU types
  const int32_t* tasks = nullptr;        // (R)  number of tasks requested
  const int32_t* min_tasks = nullptr;    // (R)  fewest tasks with which the group can run
  const int32_t* max_tasks = nullptr;    // (R)  most tasks with which the group can run
  const int32_t* gpus = nullptr;         // (R)  whole GPUs per task
  const int32_t* gpu_milli = nullptr;    // (R)  thousandths of one GPU per task; 0: no share
  const int32_t* gpu_mem_mib = nullptr;  // (R)  GPU memory per task, on each GPU
  const int64_t* cpu_milli = nullptr;    // (R)  per task
  const int64_t* mem_mib = nullptr;      // (R)  per task
  // Kinds of jobs, if measurements show that some pairs of kinds cannot share a GPU.
  int32_t num_kinds = 0;                // at most 64
  const int32_t* kind = nullptr;        // (H)  kNone: shares with all kinds
  const uint64_t* conflicts = nullptr;  // (types, num_kinds)  bit set of conflicting kinds
};

// Learning curves: a job's training metric by work done. A `View` shows the curve up to now only.
struct TrainingCurveColumns {
  const int32_t* first_point = nullptr;  // (N + 1)  index into the points; null: no curves
  const double* work_us = nullptr;       // (points)  increasing within a job
  const double* value = nullptr;         // (points)  the metric
  const double* target = nullptr;        // (N)  value at which the job ends; kNoTarget: none
  const double* enough = nullptr;        // (N)  value that the user requires; kNoTarget: none
  static constexpr double kNoTarget = 1.7976931348623157e308;

  YARD_HD bool any(int32_t job) const {
    return first_point != nullptr && first_point[job] < first_point[job + 1];
  }
  // Returns whether a policy may end the job before its work is done.
  YARD_HD bool may_end_early(int32_t job) const { return any(job) && enough[job] != kNoTarget; }
  // Interpolates `column` at `work_done_us`; constant beyond both ends. Requires: any(job).
  YARD_HD double at(const double* column, int32_t job, double work_done_us) const {
    int32_t i = first_point[job];
    const int32_t last = first_point[job + 1] - 1;
    if (work_done_us <= work_us[i]) return column[i];
    while (i < last && work_us[i + 1] <= work_done_us) ++i;
    if (i == last) return column[last];
    const double part = (work_done_us - work_us[i]) / (work_us[i + 1] - work_us[i]);
    return column[i] + part * (column[i + 1] - column[i]);
  }
};

struct JobColumns {
  int32_t num_jobs = 0;
  int32_t num_classes = 0;
  int32_t num_users = 0;
  int32_t num_job_names = 0;
  const int32_t* gpus = nullptr;           // (N)
  const int32_t* request_class = nullptr;  // (N)  jobs of one class have equal requests
  const int32_t* tenant = nullptr;     // (N)  tenant's index in the spec or kNone; null: no tenants
  const int32_t* shape = nullptr;      // (N)  kNone: plain job; null: all jobs are plain
  const int32_t* user = nullptr;       // (N)  index of the user; kNone: not in the trace
  const int64_t* submit_us = nullptr;  // (N)  non-decreasing
  const int32_t* serial = nullptr;     // (N)  order of submission; null: the job's index
  const int64_t* limit_us = nullptr;   // (N)  run-time limit set by the user, or kNone
  const int32_t* speed_class = nullptr;  // (N)  index into SimModel::speed
  int32_t num_parents = 0;               // number of jobs with dependents
  const int32_t* first_after = nullptr;  // (N + 1)  index into after_job; null: no dependencies
  const int32_t* after_job = nullptr;    // jobs which must end before another job may start
  const int32_t* parent = nullptr;       // (N)  index among jobs with dependents, or kNone
  const int64_t* save_us = nullptr;      // (N)  kNone: as in PreemptionCosts; null: kNone for all
  const int64_t* restore_us = nullptr;   // (N)  kNone: as in PreemptionCosts; null: kNone for all
  const int32_t* class_gpus = nullptr;   // (K)  whole free GPUs needed to start; non-decreasing
  const int64_t* priority = nullptr;     // (N)  higher goes first; null: 0 for all jobs
  const double* weight = nullptr;        // (N)  null: all 1
  const int64_t* due_us = nullptr;       // (N)  first deadline, or kNone; null: no deadlines
  // (N) index of the pair of user and job name without digits; kNone: no name; null: no names
  const int32_t* name = nullptr;
  // Jobs of models whose speed on each GPU type is given in the cluster file.
  int32_t num_types = 0;
  const int32_t* model_row = nullptr;   // (N)  kNone: speed of the GPU type; null: kNone for all
  const double* model_speed = nullptr;  // (rows, num_types)
  ShapeColumns shapes;
  TrainingCurveColumns curves;
};

// Speeds that policies see instead of the speeds in SimModel, unless SpeedInformation is kExact.
struct SpeedEstimates {
  SpeedColumns table = {};
  const double* model_speed = nullptr;  // (rows, num_types)  as JobColumns::model_speed
};

// Costs of the rule set `default`.
// docs/design/rules.md explains the values.
struct PreemptionCosts {
  int64_t save_us = 10'000'000;     // time to save a preempted job, which holds its GPUs meanwhile
  int64_t restore_us = 30'000'000;  // time to resume a preempted job of up to `small_gpus` GPUs
  int64_t restore_large_us = 60'000'000;  // time to resume a larger job
  int32_t small_gpus = 8;
  int64_t checkpoint_us = 1'800'000'000;  // running time between checkpoints

  double scale = 1;  // factor on costs that jobs specify; already applied to the other fields

  YARD_HD int64_t restore(int32_t gpus) const {
    return gpus <= small_gpus ? restore_us : restore_large_us;
  }
  YARD_HD int64_t scaled(int64_t cost_us) const {
    return scale == 1 ? cost_us : static_cast<int64_t>(static_cast<double>(cost_us) * scale);
  }
};

// Actions that the cluster permits in addition to starts. The rules reject actions not permitted.
struct AllowedActions {
  bool preempt = true;  // whether a job may be stopped and requeued
  bool move = true;     // whether a stopping job may be started on other GPUs before it is requeued

  friend bool operator==(const AllowedActions&, const AllowedActions&) = default;
};

// All data that a step of the simulation reads, except `Truth` and `SimState`.
struct SimModel {
  SpecColumns spec;
  JobColumns jobs;
  PreemptionCosts costs;
  SpeedColumns speed = {};  // without classes, no model was measured
  bool rated = false;       // whether throughput depends on more than GPU types (rates.h)
  AllowedActions allows = {};
  bool faults = false;  // whether GPUs may go down; if not, states omit the columns for faults

  // Returns the job's throughput on a node's GPUs, by GPU type and without effects of placement.
  YARD_HD double speed_on(int32_t job, int32_t node) const {
    const int32_t row = jobs.model_row == nullptr ? kNone : jobs.model_row[job];
    if (row == kNone) return spec.node_speed[node];
    return jobs.model_speed[row * jobs.num_types + spec.node_type[node]];
  }

  // Returns the largest number of pieces in one placement.
  YARD_HD size_t max_pieces() const {
    return static_cast<size_t>(spec.num_nodes) * static_cast<size_t>(jobs.shapes.max_groups);
  }

  // Return the times to save and to restore a job. A migration or resizing takes both times.
  YARD_HD int64_t save_us(int32_t job) const {
    const bool has_own_cost = jobs.save_us != nullptr && jobs.save_us[job] != kNone;
    return has_own_cost ? costs.scaled(jobs.save_us[job]) : costs.save_us;
  }
  YARD_HD int64_t restore_us(int32_t job, int32_t gpus) const {
    const bool has_own_cost = jobs.restore_us != nullptr && jobs.restore_us[job] != kNone;
    return has_own_cost ? costs.scaled(jobs.restore_us[job]) : costs.restore(gpus);
  }
};

}  // namespace yard
