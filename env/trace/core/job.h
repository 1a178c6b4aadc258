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

// What one task needs on its node. 0: none, or not in the trace.
struct Resources {
  int32_t gpus = 0;        // whole GPUs
  int32_t gpu_milli = 0;   // or a share of one GPU, 1 to 999 thousandths
  double gpu_mem_gib = 0;  // on each of its GPUs
  int32_t cpu_milli = 0;   // thousandths of a core
  int64_t mem_mib = 0;     // host memory
  double nic_gbps = 0;
  friend bool operator==(const Resources&, const Resources&) = default;
};

// Identical tasks of one job. All groups of a job run together as one gang, unless `after` puts
// them in sequence.
struct RoleGroup {
  std::string role = "worker";  // "worker", "ps", "stage0"; unique in its job
  int32_t count = 1;            // tasks asked for; run_us is for this number
  int32_t min_count = 0;        // elastic: smallest number of tasks, at least 1
  int32_t max_count = 0;        // largest number, at least `count`; 0: exactly `count`
  Resources task;
  std::vector<int32_t> after;  // indices of groups of this job that end before this one begins
  int64_t run_us = -1;         // of this group, if some groups come after others; -1: as of the job
  friend bool operator==(const RoleGroup&, const RoleGroup&) = default;
};

// A deadline and its value.
struct Due {
  int64_t within_us = 0;  // after submission, so that it moves when arrivals are scaled
  double value = 1;       // if the job ends by then
  friend bool operator==(const Due&, const Due&) = default;
};

// The loss after the share x of the work is 1 / (b0 x + b1) + b2. b1 = 0: not given.
struct LossCurveFormula {
  double b0 = 0, b1 = 0, b2 = 0;
  friend bool operator==(const LossCurveFormula&, const LossCurveFormula&) = default;
};

// A point of a training curve: the metric after a share of the work.
struct TrainingCurvePoint {
  double share = 0;
  double value = 0;
  double noise = 0;  // gradient noise scale, in samples of a step; 0: unknown
};

// Times count from the trace's own zero. A field that the trace does not give keeps its default.
struct Job {
  std::string id;         // as in the trace; unique
  int64_t submit_us = 0;  // at least 0
  int64_t run_us = 0;     // as requested, without contention; kFromProfile: not in the trace
  int32_t gpus = 0;       // over all groups, shares rounded up; 0: a job without GPUs
  int32_t line = 0;       // in the file, from 1; 0: generated
  bool scored = true;     // false: warm-up, or arrivals after the scored window
  bool copy = false;      // repeats a job of the scored window (window.h): no job of the trace
  int64_t limit_us = -1;  // wall-clock limit set by the user; -1: none
  std::string user;
  std::string name;  // chosen by the user

  // The job's model and training, for speeds from measured profiles.
  std::string model;         // "ResNet-50"
  bool model_drawn = false;  // drawn at random: the trace names none
  int32_t batch_size = 0;    // samples per iteration, over all workers; 0: not given
  double iterations = 0;     // work in iterations; 0: not given
  double iteration_ms = 0;   // measured with the resources asked for; 0: not given
  std::string batch_mode;    // how the batch size changes: "static", "accordion", "gns"

  // The job's request. No groups: `gpus` whole GPUs, split over nodes as the scheduler chooses.
  std::vector<RoleGroup> groups;
  Pattern pattern = Pattern::kNone;
  std::vector<std::string> gpu_types;  // allowed types; empty: any

  // The job's training curve (training_curves.h). The job ends early when it reaches the target.
  LossCurveFormula loss;
  double target = kNoTarget;
  // Metric that satisfies the user. A scheduler may end the job at this value, or earlier if the
  // metric will hardly improve. kNoTarget: no scheduler may end the job.
  double enough = kNoTarget;
  std::vector<TrainingCurvePoint> curve;  // by rising share; computed on loading, in no file

  // Costs of a stop. save_us: the job holds its GPUs while it saves. restore_us: the job makes no
  // progress for this time after each restart, on any GPUs. -1: the costs of the rule set.
  int64_t save_us = -1;
  int64_t restore_us = -1;

  // Tenant, priority, deadlines and dependencies.
  std::string tenant;              // virtual cluster, partition or queue
  int64_t priority = 0;            // higher goes first, in policies that use priorities
  double weight = 1;               // of its completion time, where a metric or policy uses weights
  std::vector<Due> dues;           // rising times, falling values; one entry: a hard deadline
  std::vector<std::string> after;  // ids of jobs that must end before it may start
  std::string array;               // name shared by the jobs of one array

  // What happened to the job on the real cluster. Policies never see these fields.
  int64_t logged_start_us = -1;  // -1: not in the trace
  int64_t logged_end_us = -1;
  bool run_unknown = false;  // not in the log: run_us is the value of a setting
  std::string status;        // as in the trace: "Pass", "TIMEOUT"

  static constexpr int64_t kFromProfile = -1;
  static constexpr double kNoTarget = std::numeric_limits<double>::max();
};

// Returns whether the job can run with fewer or more tasks than it asked for.
inline bool is_elastic(const Job& job) {
  return std::ranges::any_of(job.groups, [](const auto& g) { return g.max_count > g.min_count; });
}

// Rows that were left out, or noted, for the same reason.
struct Skipped {
  std::string reason;
  int64_t count = 0;
  std::string first;  // position of the first one, "jobs.csv:17"
};

// Returns the text of a notice in Trace::notices with its rows: "text (3 rows, the first at
// jobs.csv:17)".
inline std::string format_row_notice(const Skipped& notice) {
  const std::string rows =
      notice.count == 1 ? "1 row, at " : std::to_string(notice.count) + " rows, the first at ";
  return notice.reason + " (" + rows + notice.first + ")";
}

struct Trace {
  std::string source;     // path, or "synthetic:NAME"
  std::string format;     // name of the reader or generator
  std::string sha256;     // of the uncompressed file; of a generator's parameters, seed and size
  std::vector<Job> jobs;  // by submit_us; ties in the order of the file
  std::vector<Skipped> skipped;
  std::vector<Skipped> notices;         // about rows that are kept: how the reader interpreted them
  std::optional<int64_t> epoch_unix_s;  // Unix time of the trace's zero, if known
  int32_t machine_gpus = 0;             // of the recorded cluster; 0: not in the trace
};

}  // namespace yard
