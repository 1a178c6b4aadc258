// How time passes and what is charged: `default`, or the rules of one published simulator a file.
// A pacing replays a workload under a scheduler and tells what became of every job.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "env/base/registry.h"
#include "env/base/settings.h"
#include "env/cluster/spec.h"
#include "env/sim/decider.h"
#include "env/sim/world.h"

namespace yard {

constexpr int64_t kSoonUs = 600'000'000;  // between two preemptions of a job

struct JobOutcome {
  int64_t start_us = kNone;  // the first start
  int64_t end_us = kNone;
  int32_t preemptions = 0;
  int32_t restarts = 0;  // starts after the first
  // Of the preemptions, where Outcome::tells_edits: those that began a move, the job being started
  // elsewhere by the same plan; and those less than kSoonUs after the one before of the same job.
  int32_t moves = 0;
  int32_t soon_again = 0;
  // Whether the policy ended it before its time, and the work that was left then.
  bool ended_early = false;
  double undone_us = 0;
};

struct Outcome {
  std::vector<JobOutcome> jobs;  // (N) as in the workload
  int64_t begin_us = 0, end_us = 0;
  WideUs held_time_us = 0;   // GPUs held by starting and running jobs, summed over time
  int64_t events = 0;        // moments at which something happened
  int64_t decisions = 0;     // times the scheduler was asked
  WideUs lost_time_us = 0;   // GPU time of work that failures lost
  int64_t failures = 0;      // times that a failure stopped a job
  double moved_bytes = 0;    // between nodes
  bool tells_edits = false;  // whether jobs' moves and soon_again were counted

  // Takes over what a state has summed up by the end.
  void close(const Head& head) {
    end_us = head.now_us;
    held_time_us = head.held_time_us;
    lost_time_us = head.lost_time_us;
    failures = head.failures;
    moved_bytes = head.moved_bytes;
  }
};

// What policies may know of how fast jobs run: the tables themselves; the tables with a log-normal
// error; or a prior and what running jobs have shown.
enum class SpeedLevel : uint8_t { kTold, kNoisy, kLearned };

struct Replay {
  const Fixed& fixed;
  const Workload& workload;
  int32_t first_job = 0;
  int32_t end_job = 0;
  std::string policy;  // rule sets with schedulers of their own go by these three
  std::string placement;
  Settings settings;
  Decider* decider = nullptr;  // the scheduler under `default`
  double oracle_noise = 0.25;  // sd of the log error of Level::kNoisyOracle
  SpeedLevel speeds = SpeedLevel::kTold;
  double speed_noise = 0.25;  // sd of the log error of SpeedLevel::kNoisy
  uint64_t seed = 1;
  // The workload's jobs in full, for rule sets that go by more than GPUs and run times.
  const Trace* trace = nullptr;
  const ClusterSpec* cluster = nullptr;        // for those that go by the names of GPU types
  const std::vector<Fault>* faults = nullptr;  // in_course(), in place of the workload's
  // Called after every decision, and where jobs end between decisions; for time series, timelines
  // and tests.
  std::function<void(const ClusterState&)> watch;

  Truth truth() const {
    Truth truth = workload.truth();
    if (faults != nullptr) {
      truth.faults = faults->data();
      truth.num_faults = static_cast<int32_t>(faults->size());
    }
    return truth;
  }
};

class Pacing {
 public:
  static constexpr const char* kKind = "rule set";
  struct Info {
    std::string about;
    std::string source;  // paper
    std::string fidelity;
    std::vector<std::string> policies = {};    // empty: every registered policy
    std::vector<std::string> placements = {};  // empty: those of `choose`; the first is the default
    std::vector<std::string> oracles = {};     // those of `policies` that know run times
    // Why a job that is alone may not start when submitted, or run longer than its run time. Empty:
    // it does neither.
    std::string waiver = {};
    // What can be set, with defaults: `describe<Config>` of the rule set's own struct.
    std::vector<Field> (*fields)() = describe<NoConfig>;
    std::vector<std::string> needs = {};  // settings that must be given: files of measurements
    double round_s = 0;  // it decides at intervals of up to so long; 0: whenever something happens
    double start_s = 0;  // what every start costs
    bool by_types = false;  // GPU types differ; to others all GPUs are alike
  };

  virtual ~Pacing() = default;

  // Returns when all scored jobs of the replay are done, or all jobs where none is scored; what is
  // not done then has no end. Throws RunError when the scheduler leaves jobs waiting for ever,
  // InputError for a policy, placement or cluster that the rules do not know.
  virtual Outcome replay(const Replay& replay) const = 0;
};

using PacingRegistry = Registry<Pacing>;

// For rules with schedulers of their own: throws InputError unless they list `policy` and
// `placement`. Returns the placement, the first listed where none is named. A listed name like
// "dlas-gpu-N" stands for any N.
std::string check_play(const std::string& rules, const std::string& policy,
                       const std::string& placement);

}  // namespace yard
