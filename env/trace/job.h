// What users asked for, as a trace file or a generator tells it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "env/trace/pattern.h"

namespace yard {

// What one task needs on the node that it runs on. 0: none of it, or the trace does not say.
struct Resources {
  int32_t gpus = 0;        // whole ones
  int32_t gpu_milli = 0;   // or a share of a single one, 1 to 999 thousandths
  double gpu_mem_gib = 0;  // on each of them
  int32_t cpu_milli = 0;   // thousandths of a core
  int64_t mem_mib = 0;     // host memory
  double nic_gbps = 0;
  friend bool operator==(const Resources&, const Resources&) = default;
};

// Tasks of one job that are alike. All of a job's groups run together, as one gang, unless `after`
// puts them one behind the other.
struct RoleGroup {
  std::string role = "worker";  // "worker", "ps", "stage0"; unique in its job
  int32_t count = 1;            // tasks asked for; run_us is with so many
  int32_t min_count = 0;        // elastic: the fewest it can run with, at least 1, and
  int32_t max_count = 0;        // the most, at least `count`; 0: exactly `count`
  Resources task;
  std::vector<int32_t> after;  // groups of this job that end before this one begins, by index
  int64_t run_us = -1;  // its own, where some groups come after others; -1: the job's (stages.h)
  friend bool operator==(const RoleGroup&, const RoleGroup&) = default;
};

// What a job is worth if it ends in time.
struct Due {
  int64_t within_us = 0;  // of its submission, so that it moves with an arrival that is scaled
  double value = 1;       // if it ends by then
  friend bool operator==(const Due&, const Due&) = default;
};

// How the loss falls: after the share x of the work it is 1 / (b0 x + b1) + b2. b1 = 0: not said.
struct LossForm {
  double b0 = 0, b1 = 0, b2 = 0;
  friend bool operator==(const LossForm&, const LossForm&) = default;
};

// What a job's training measures once so much of its work is done.
struct CurvePoint {
  double share = 0;
  double value = 0;
  double noise = 0;  // gradient noise scale, in samples of a step; 0: not known
};

// Times count from the trace's own zero. A field that a trace does not say keeps its default.
struct Job {
  std::string id;         // as in the trace; unique
  int64_t submit_us = 0;  // at least 0
  int64_t run_us = 0;     // with what it asked for, undisturbed; kFromProfile: not in the trace
  int32_t gpus = 0;       // in all its groups, shares rounded up; 0: a job of CPUs alone
  int32_t line = 0;       // in the file, from 1; 0: generated
  bool scored = true;     // false: warm-up, or arrivals that go on after the scored window
  int64_t limit_us = -1;  // the user's own limit; -1: none
  std::string user;
  std::string name;  // of the job, as its user called it

  // What it runs, where its speed comes from measured profiles.
  std::string model;         // "ResNet-50"
  bool model_drawn = false;  // by lot: the trace names none
  int32_t batch_size = 0;    // samples an iteration, over all its workers; 0: not said
  double iterations = 0;     // its work in iterations; 0: not said
  double iteration_ms = 0;   // as measured with what it asked for; 0: not said
  std::string batch_mode;    // how the batch size changes: "static", "accordion", "gns"

  // What it needs. Empty: `gpus` whole GPUs, split over nodes as the scheduler likes.
  std::vector<RoleGroup> groups;
  Pattern pattern = Pattern::kNone;
  std::vector<std::string> gpu_types;  // it runs on no other; empty: on any

  // How its training goes (curves.h). It ends early where it reaches the target.
  LossForm loss;
  double target = kNoTarget;
  // With what it measures its user is content; who says so lets a scheduler end the job, before
  // that, too, where it will not get much better. kNoTarget: nobody may.
  double enough = kNoTarget;
  std::vector<CurvePoint> curve;  // by rising share; made when the trace is loaded, in no file

  // What stopping it costs, where that is known: holding its GPUs while it saves, and from a start
  // after a stop, on whatever GPUs, until it goes on. -1: what the rules charge everybody.
  int64_t save_us = -1;
  int64_t restore_us = -1;

  // What it is due, and to whom.
  std::string tenant;              // virtual cluster, partition or queue
  int64_t priority = 0;            // higher goes first, where a policy looks at it
  double weight = 1;               // of its completion time, where a metric or policy weighs
  std::vector<Due> dues;           // by rising time, with falling value; a hard deadline is one
  std::vector<std::string> after;  // ids of jobs that must have ended before it may start
  std::string array;               // jobs of one array carry the same name

  // What the real cluster made of it; never shown to a policy.
  int64_t logged_start_us = -1;  // -1: the trace does not say
  int64_t logged_end_us = -1;
  bool run_unknown = false;  // the log tells none: run_us is what a setting says of such jobs
  std::string status;        // as the trace says it: "Pass", "TIMEOUT"

  static constexpr int64_t kFromProfile = -1;
  static constexpr double kNoTarget = std::numeric_limits<double>::max();
};

// Whether it can run with fewer or more tasks than it asked for.
inline bool is_elastic(const Job& job) {
  for (const RoleGroup& g : job.groups) {
    if (g.max_count > g.min_count) return true;
  }
  return false;
}

// Rows that were left out because the caller allowed it, by reason.
struct Skipped {
  std::string reason;
  int64_t count = 0;
  std::string first;  // where the first one stands, "jobs.csv:17"
};

// Returns what `notice`, one of Trace::notices, says: "its text (3 rows, the first at
// jobs.csv:17)".
inline std::string notice_text(const Skipped& notice) {
  const std::string rows =
      notice.count == 1 ? "1 row, at " : std::to_string(notice.count) + " rows, the first at ";
  return notice.reason + " (" + rows + notice.first + ")";
}

struct Trace {
  std::string source;     // path, or "synthetic:NAME"
  std::string format;     // reader's or generator's name
  std::string sha256;     // of the uncompressed file; of a generator's parameters, seed and size
  std::vector<Job> jobs;  // by submit_us; equal ones in the order of the file
  std::vector<Skipped> skipped;
  std::vector<Skipped> notices;  // of rows that are kept: what their reader made of them, and why
  std::optional<int64_t> epoch_unix_s;  // the calendar time of the trace's zero, where it is known
  int32_t machine_gpus = 0;             // of the recorded cluster; 0: the trace does not say
};

}  // namespace yard
