// A job as a trace file or a generator describes it: what its user asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "env/trace/core/pattern.h"

namespace yard {

// Resources that one task needs on its node; 0 means none, or not given in the trace.
struct Resources {
  int32_t gpus = 0;        // whole GPUs
  int32_t gpu_milli = 0;   // share of one GPU in thousandths, 1 to 999
  double gpu_mem_gib = 0;  // GPU memory needed on each of the task's GPUs
  int32_t cpu_milli = 0;   // thousandths of a core
  int64_t mem_mib = 0;     // host memory
  double nic_gbps = 0;
  friend bool operator==(const Resources&, const Resources&) = default;
};

// A group of identical tasks of one job. All groups of a job run together as one gang, unless
// `after` puts them in sequence.
struct RoleGroup {
  std::string role = "worker";  // role of the tasks, unique in the job: "worker", "ps", "stage0"
  int32_t count = 1;            // number of tasks asked for, to which run_us refers
  int32_t min_count = 0;        // smallest number of tasks of an elastic group, at least 1
  int32_t max_count = 0;        // largest number of tasks, at least `count`; 0: exactly `count`
  Resources task;
  std::vector<int32_t> after;  // indices of groups of the job that end before this group begins
  int64_t run_us = -1;         // run time of the group if groups come after others; -1: the job's
  friend bool operator==(const RoleGroup&, const RoleGroup&) = default;
};

// A deadline and its value.
struct Deadline {
  int64_t within_us = 0;  // microseconds after submission, so that a deadline moves with its job
  double value = 1;       // value gained if the job ends by the deadline
  friend bool operator==(const Deadline&, const Deadline&) = default;
};

// A loss curve: the loss after share x of the work is 1 / (b0 x + b1) + b2; b1 = 0: not given.
struct LossCurveFormula {
  double b0 = 0, b1 = 0, b2 = 0;
  friend bool operator==(const LossCurveFormula&, const LossCurveFormula&) = default;
};

// A point of a training curve: the value of the metric after a share of the work.
struct TrainingCurvePoint {
  double share = 0;
  double value = 0;
  double noise = 0;  // gradient noise scale, in samples per step; 0: unknown
};

// Times of a job count from the trace's own time 0. Fields that are not in the trace keep defaults.
struct Job {
  std::string id;         // id as in the trace, unique within it
  int64_t submit_us = 0;  // at least 0
  int64_t run_us = 0;     // run time as asked, without contention; kFromProfile: not in the trace
  int32_t gpus = 0;       // GPUs of all groups, shares rounded up; 0: a job without GPUs
  int32_t line = 0;       // line in the trace file, from 1; 0: a generated job
  bool scored = true;     // false: a job of the warm-up or after the scored window
  bool copy = false;      // a copy of a job of the scored window, not a job of the trace (window.h)
  int64_t limit_us = -1;  // wall-clock limit set by the user; -1: none
  std::string user;
  std::string name;  // chosen by the user

  // The job's model and how it is trained, with which measured speeds are looked up.
  std::string model;         // "ResNet-50"
  bool model_drawn = false;  // the model was drawn at random, since the trace names none
  int32_t batch_size = 0;    // samples per iteration, over all workers; 0: not given
  double iterations = 0;     // the job's work in iterations; 0: not given
  double iteration_ms = 0;   // time per iteration with the resources asked for; 0: not given
  std::string batch_mode;    // how the batch size changes: "static", "accordion", "gns"

  // Without groups, a job asks for `gpus` whole GPUs, split over nodes as the scheduler chooses.
  std::vector<RoleGroup> groups;
  Pattern pattern = Pattern::kNone;
  std::vector<std::string> gpu_types;  // GPU types that the job may use; empty: any type

  // The training curve (training_curves.h). The job ends early when the curve reaches `target`.
  LossCurveFormula loss;
  double target = kNoTarget;
  // Value of the metric that satisfies the user. A scheduler may end the job at this value, or
  // earlier if the metric will hardly improve. kNoTarget: no scheduler may end the job.
  double enough = kNoTarget;
  std::vector<TrainingCurvePoint> curve;  // points by rising share, computed on loading the trace

  // Time for which a job holds its GPUs to save a checkpoint (save_us), and time without progress
  // after each restart, on any GPUs (restore_us). -1: the costs of the rule set.
  int64_t save_us = -1;
  int64_t restore_us = -1;

  // The job's tenant, priority, deadlines and dependencies.
  std::string tenant;              // virtual cluster, partition or queue of the job
  int64_t priority = 0;            // jobs of higher priority go first, if a policy uses priorities
  double weight = 1;               // weight of the completion time in weighted metrics and policies
  std::vector<Deadline> dues;      // deadlines by rising time, falling value; one: a hard deadline
  std::vector<std::string> after;  // ids of jobs that must end before this job may start
  std::string array;               // name shared by the jobs of one job array

  // What happened to the job on the real cluster, which policies never see.
  int64_t logged_start_us = -1;  // start, in trace time; -1: not given
  int64_t logged_end_us = -1;
  bool run_unknown = false;  // the log lacks a run time, so that run_us is a setting's value
  std::string status;        // final status as in the trace, such as "Pass" or "TIMEOUT"

  static constexpr int64_t kFromProfile = -1;
  static constexpr double kNoTarget = std::numeric_limits<double>::max();
};

// Returns whether the job can run with fewer or more tasks than it asked for.
inline bool is_elastic(const Job& job) {
  return std::ranges::any_of(job.groups, [](const auto& g) { return g.max_count > g.min_count; });
}

// A count of rows of a trace that were left out, or noted, for one reason.
struct CountedRows {
  std::string reason;
  int64_t count = 0;
  std::string first;  // position of the first such row, "jobs.csv:17"
};

// Returns a notice's text with the number of its rows and the first one's position: "text (3 rows,
// the first at jobs.csv:17)".
inline std::string format_row_notice(const CountedRows& notice) {
  const std::string rows =
      notice.count == 1 ? "1 row, at " : std::to_string(notice.count) + " rows, the first at ";
  return notice.reason + " (" + rows + notice.first + ")";
}

struct Trace {
  std::string source;     // path, or "synthetic:NAME"
  std::string format;     // name of the reader or generator
  std::string sha256;     // hash of the uncompressed file, or of the generator and its options
  std::vector<Job> jobs;  // sorted by submit_us; ties keep the order of the file
  std::vector<CountedRows> skipped;
  std::vector<CountedRows> notices;     // notices on rows that are kept: how they were interpreted
  std::optional<int64_t> epoch_unix_s;  // Unix time of the trace's zero, if known
  int32_t machine_gpus = 0;             // GPUs of the recorded cluster; 0: not in the trace
};

}  // namespace yard
