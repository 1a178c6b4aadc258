// What never changes during a run, as plain columns that rules read on the CPU and on the GPU.
// The owners (`ClusterSpec`, `JobTable`) live on the host; these are views of them.
// Dims: M nodes, G GPUs, N jobs of the workload, K classes of equal requests, H shapes, R role
// groups of all shapes.
#pragma once

#include <cstdint>

#include "env/base/check.h"
#include "env/sim/speed/speed.h"

namespace yard {

constexpr int64_t kNever = INT64_MAX;
constexpr int32_t kNone = -1;
constexpr double kCrawl = 1e-3;  // the least rate of a running job
constexpr int64_t kUnlimited = int64_t{1} << 40;
constexpr int32_t kWholeGpu = 1000;  // thousandths
constexpr int32_t kMaxShapeTasks = 1024;
constexpr int32_t kMaxNodeGpus = 64;  // a node's GPUs are the bits of one word

struct SpecColumns {
  int32_t num_nodes = 0;
  int32_t total_gpus = 0;
  int32_t max_node_gpus = 0;
  const int32_t* node_gpus = nullptr;      // (M)
  const int32_t* node_gpu0 = nullptr;      // (M)  index of the node's first GPU among all
  const double* node_speed = nullptr;      // (M)  work per unit of time, reference type = 1
  const int32_t* node_rack = nullptr;      // (M)  nodes of one rack share a switch
  const int32_t* nodes_of_size = nullptr;  // (max_node_gpus + 1)  how many nodes have so many GPUs
  int32_t num_racks = 0;
  int32_t num_pods = 0;
  bool overloads = false;                     // whether any node may promise more CPUs than it has
  const int32_t* node_pod = nullptr;          // (M)  racks of one pod share the next switches
  const int32_t* node_island_gpus = nullptr;  // (M)  GPU g is in island g / so many
  const int64_t* node_cores_milli =
      nullptr;                              // (M)  what it has; node_cpu_milli: what it may promise
  const int64_t* node_up_bytes = nullptr;   // (M)  bytes a second to its rack; 0: no limit
  const int64_t* rack_up_bytes = nullptr;   // (racks)  the same to its pod
  const int64_t* pod_up_bytes = nullptr;    // (pods)  the same to the core
  const int32_t* node_type = nullptr;       // (M)  GPU type
  const int64_t* node_cpu_milli = nullptr;  // (M)  kUnlimited where the cluster does not say
  const int64_t* node_mem_mib = nullptr;    // (M)  likewise
  int32_t num_tenants = 0;
  // (tenants)  The most GPUs that one may hold at once, and what policies weigh: the GPUs that it
  // is guaranteed, its share of the rest, its priority (higher goes first) and whose jobs it may
  // preempt to get what it is guaranteed (`Preempts`).
  const int32_t* tenant_limit = nullptr;
  const int32_t* tenant_quota = nullptr;
  const double* tenant_weight = nullptr;
  const int32_t* tenant_priority = nullptr;
  const uint8_t* tenant_preempts = nullptr;
  const int32_t* node_owner = nullptr;   // (M)  who alone may use the node, kNone: anyone
  const uint8_t* type_shares = nullptr;  // (types)  1: a part of a GPU can be held; 0: all of it is
  const int32_t* type_mem_mib = nullptr;  // (types)  of one GPU, INT32_MAX where not said
  int32_t num_types = 0;
  double neighbour_weight = 0;  // this and the next: beside.h
  bool shared_exchange = false;
  bool one_type = false;  // a job's GPUs are all of one type
};

// Requests that are more than a number of GPUs. A plain job has none: its GPUs are whole, of any
// type, and lie wherever the scheduler likes.
struct ShapeColumns {
  int32_t num_shapes = 0;
  int32_t max_groups = 1;       // of one shape
  int32_t max_loose_tasks = 0;  // of one shape: those without a whole GPU of their own
  // (N + 1)  loose tasks of the so many jobs that have most of them; null where none has any
  const int64_t* most_loose = nullptr;
  const int32_t* first_group = nullptr;  // (H + 1)  into the columns below
  const int32_t* tenant = nullptr;       // (H)  kNone: of no tenant that owns nodes
  const uint64_t* types = nullptr;       // (H)  the GPU types it runs on, as bits
  const int32_t* tasks = nullptr;        // (R)  asked for
  const int32_t* min_tasks = nullptr;    // (R)  it can run with any number from here
  const int32_t* max_tasks = nullptr;    // (R)  to here
  const int32_t* gpus = nullptr;         // (R)  this and what follows: of one task
  const int32_t* gpu_milli = nullptr;    // (R)  a share of one GPU, 0 where `gpus` says it
  const int32_t* gpu_mem_mib = nullptr;  // (R)  on each GPU
  const int64_t* cpu_milli = nullptr;    // (R)
  const int64_t* mem_mib = nullptr;      // (R)
  // Jobs of which some were measured not to fit on one GPU together.
  int32_t num_kinds = 0;          // at most 64
  const int32_t* kind = nullptr;  // (H)  kNone: beside anybody
  const uint64_t* barred =
      nullptr;  // (types, num_kinds)  kinds that may not lie beside it, as bits
};

// What jobs' training measures along their work. A View shows what was reached, not what comes.
struct CurveColumns {
  const int32_t* first_point = nullptr;  // (N + 1)  into the points; null where no job has any
  const double* work_us = nullptr;       // (points)  rising within a job
  const double* value = nullptr;         // (points)
  const double* target = nullptr;        // (N)  kNoTarget: none
  const double* enough = nullptr;        // (N)  content with it, and may be ended; kNoTarget
  static constexpr double kNoTarget = 1.7976931348623157e308;

  YARD_HD bool any(int32_t job) const {
    return first_point != nullptr && first_point[job] < first_point[job + 1];
  }
  YARD_HD bool may_end(int32_t job) const { return any(job) && enough[job] != kNoTarget; }
  // The value of `column` after so much work; before the first point that of the first, behind the
  // last that of the last. Requires: any().
  YARD_HD double at(const double* column, int32_t job, double done_us) const {
    int32_t i = first_point[job];
    const int32_t last = first_point[job + 1] - 1;
    if (done_us <= work_us[i]) return column[i];
    while (i < last && work_us[i + 1] <= done_us) ++i;
    if (i == last) return column[last];
    const double part = (done_us - work_us[i]) / (work_us[i + 1] - work_us[i]);
    return column[i] + part * (column[i + 1] - column[i]);
  }
};

struct JobColumns {
  int32_t num_jobs = 0;
  int32_t num_classes = 0;
  int32_t num_users = 0;
  int32_t num_names = 0;
  const int32_t* gpus = nullptr;         // (N)
  const int32_t* size_class = nullptr;   // (N)  jobs of one class ask for the same
  const int32_t* tenant = nullptr;       // (N)  of the spec's, kNone; null where it has none
  const int32_t* shape = nullptr;        // (N)  kNone for plain jobs; null where all are
  const int32_t* user = nullptr;         // (N)  kNone where the trace names nobody
  const int64_t* submit_us = nullptr;    // (N)  rising
  const int64_t* limit_us = nullptr;     // (N)  the user's own limit, kNone where there is none
  const int32_t* speed_class = nullptr;  // (N)  of Fixed::speed
  int32_t num_parents = 0;               // jobs that others wait for
  const int32_t* first_after = nullptr;  // (N + 1)  into after_job; null where nobody waits
  const int32_t* after_job = nullptr;    // jobs that must have ended before it may start
  const int32_t* parent = nullptr;       // (N)  index among those that others wait for, kNone
  const int64_t* save_us = nullptr;      // (N)  kNone: as Costs say; null where all are so
  const int64_t* restore_us = nullptr;   // (N)  likewise
  const int32_t* class_gpus = nullptr;  // (K)  rising; whole free GPUs without which none can start
  const int64_t* priority = nullptr;    // (N)  higher goes first; null where all are 0
  const double* weight = nullptr;       // (N)  null where all are 1
  const int64_t* due_us = nullptr;      // (N)  first deadline, kNone; null where nobody has one
  // (N) jobs that one user calls alike, digits aside; kNone without a name, null where none has
  // one.
  const int32_t* name = nullptr;
  // Models that the cluster's types run at speeds of their own.
  int32_t num_types = 0;
  const int32_t* model_row = nullptr;   // (N)  kNone: as fast as others; null where all are
  const double* model_speed = nullptr;  // (rows, num_types)
  ShapeColumns shapes;
  CurveColumns curves;
};

// What policies are shown of speeds in place of Fixed::speed and JobColumns::model_speed, where the
// level of information about speeds is below `told`.
struct SpeedEstimates {
  SpeedColumns table = {};
  const double* model_speed = nullptr;  // (rows, num_types)  as JobColumns::model_speed
};

// What the `default` rules charge; sources and figures: design decision 8, docs/architecture.md.
struct Costs {
  int64_t save_us = 10'000'000;           // GPUs stay held while a preempted job saves
  int64_t restore_us = 30'000'000;        // before a preempted job goes on, up to `small_gpus`
  int64_t restore_large_us = 60'000'000;  // the same for larger jobs
  int32_t small_gpus = 8;
  int64_t checkpoint_us = 1'800'000'000;  // of running time; a failure loses the work since then

  double scale = 1;  // of what jobs tell of themselves; the fields above are scaled already

  YARD_HD int64_t restore(int32_t gpus) const {
    return gpus <= small_gpus ? restore_us : restore_large_us;
  }
  YARD_HD int64_t scaled(int64_t told_us) const {
    return scale == 1 ? told_us : static_cast<int64_t>(static_cast<double>(told_us) * scale);
  }
};

// What a cluster's manager lets a scheduler do beside starting jobs. Rules refuse the rest, so that
// any policy can be played under it; a view tells what is allowed.
struct Allows {
  bool preempt = true;  // stop a job, which then waits in the queue again
  bool move = true;     // start it elsewhere before it is back in the queue

  friend bool operator==(const Allows&, const Allows&) = default;
};

// All that one step reads beside truth and state.
struct Fixed {
  SpecColumns spec;
  JobColumns jobs;
  Costs costs;
  SpeedColumns speed = {};  // no classes: nothing is known of models
  bool rated = false;       // whether a rate depends on more than the types of GPUs; see rates.h
  Allows allows = {};
  bool faults = false;  // whether GPUs may go down: only then do states keep what that needs

  // How fast a job goes on a node's GPUs where nothing is known of it but its model.
  YARD_HD double speed_on(int32_t job, int32_t node) const {
    const int32_t row = jobs.model_row == nullptr ? kNone : jobs.model_row[job];
    if (row == kNone) return spec.node_speed[node];
    return jobs.model_speed[row * jobs.num_types + spec.node_type[node]];
  }

  // What it costs to stop a job, and to let it go on: a move to other GPUs, or to another number of
  // them, is the two together.
  YARD_HD int64_t save_us(int32_t job) const {
    const bool told = jobs.save_us != nullptr && jobs.save_us[job] != kNone;
    return told ? costs.scaled(jobs.save_us[job]) : costs.save_us;
  }
  YARD_HD int64_t restore_us(int32_t job, int32_t gpus) const {
    const bool told = jobs.restore_us != nullptr && jobs.restore_us[job] != kNone;
    return told ? costs.scaled(jobs.restore_us[job]) : costs.restore(gpus);
  }
};

}  // namespace yard
