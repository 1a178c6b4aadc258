// Rule sets: how time passes and which costs apply, in `default` and in each published simulator. A
// rule set replays a workload under a scheduler and returns the outcome of every job.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "env/base/config/registry.h"
#include "env/base/config/settings.h"
#include "env/cluster/spec.h"
#include "env/sim/rules/world.h"
#include "env/sim/view/decider.h"

namespace yard {

constexpr int64_t kRapidRepreemptionUs = 600'000'000;  // see JobOutcome::rapid_repreemptions

struct JobOutcome {
  int64_t start_us = kNone;  // the first start
  int64_t end_us = kNone;
  int32_t preemptions = 0;
  int32_t restarts = 0;  // starts after the first
  // The next two are counted only if Outcome::counts_edits.
  int32_t migrations = 0;           // preemptions by plans that also start the job elsewhere
  int32_t rapid_repreemptions = 0;  // within kRapidRepreemptionUs of the previous preemption
  bool ended_early = false;         // by the policy
  double undone_us = 0;             // work left at an early end
};

struct Outcome {
  std::vector<JobOutcome> jobs;  // (N)  as in the workload
  int64_t begin_us = 0, end_us = 0;
  WideUs held_time_us = 0;    // GPU time held by starting and running jobs
  int64_t events = 0;         // times at which something happened
  int64_t decisions = 0;      // calls of the scheduler
  WideUs lost_time_us = 0;    // GPU time of work that failures undid
  int64_t failures = 0;       // times that a failure stopped a job
  double moved_bytes = 0;     // between nodes
  bool counts_edits = false;  // whether migrations and rapid_repreemptions were counted

  // Copies the totals of the final state.
  void close(const StateHeader& head) {
    end_us = head.now_us;
    held_time_us = head.held_time_us;
    lost_time_us = head.lost_time_us;
    failures = head.failures;
    moved_bytes = head.moved_bytes;
  }
};

// The job speeds that policies see: exact tables; tables with a log-normal error; or a prior that
// the progress of running jobs corrects.
enum class SpeedInformation : uint8_t { kExact, kNoisy, kLearned };

struct Replay {
  const SimModel& fixed;
  const Workload& workload;
  int32_t first_job = 0;
  int32_t end_job = 0;
  std::string policy;  // this and the next two: for rule sets with their own schedulers
  std::string placement;
  Settings settings;
  Decider* decider = nullptr;  // the scheduler under `default`
  double oracle_noise = 0.25;  // standard deviation of the log error at Level::kNoisyOracle
  SpeedInformation speeds = SpeedInformation::kExact;
  double speed_noise = 0.25;  // standard deviation of the log error at SpeedInformation::kNoisy
  uint64_t seed = 1;
  // All fields of the jobs, for rule sets that use more than GPUs and run times.
  const Trace* trace = nullptr;
  const ClusterSpec* cluster = nullptr;        // for rule sets that use the names of GPU types
  const std::vector<Fault>* faults = nullptr;  // add_fault_ends(), in place of the workload's
  // Called after every decision, and when jobs end between decisions.
  std::function<void(const SimState&)> watch;

  Truth truth() const {
    Truth truth = workload.truth();
    if (faults != nullptr) {
      truth.faults = faults->data();
      truth.num_faults = static_cast<int32_t>(faults->size());
    }
    return truth;
  }
};

class RuleSet {
 public:
  static constexpr const char* kKind = "rule set";
  struct Info {
    std::string about;
    std::string source;  // paper
    std::string fidelity;
    std::vector<std::string> policies = {};    // empty: every registered policy
    std::vector<std::string> placements = {};  // empty: those of `choose`; the first is the default
    std::vector<std::string> oracles = {};     // the `policies` that see run times
    // Why even a lone job may start late or run longer than its run time. Empty: neither happens.
    std::string waiver = {};
    // Settings with their defaults: `describe<Config>` of the rule set's own struct.
    std::vector<Field> (*fields)() = describe<NoConfig>;
    std::vector<std::string> needs = {};  // settings without a default: files of measurements
    double round_s = 0;     // longest interval between decisions; 0: it decides at every event
    double start_s = 0;     // cost of every start
    bool by_types = false;  // speeds differ by GPU type; else all GPUs are equal
  };

  virtual ~RuleSet() = default;

  // Returns when all scored jobs are done, or all jobs if none is scored; unfinished jobs have no
  // end. Throws RunError if the scheduler leaves jobs waiting for ever, and InputError for a
  // policy, placement or cluster that the rules do not support.
  virtual Outcome replay(const Replay& replay) const = 0;
};

using RuleSetRegistry = Registry<RuleSet>;

// A rule set which is a function of the replay and of its own settings.
template <class Config, Outcome (*kReplay)(const Replay&, const Config&)>
class RuleSetOf final : public RuleSet {
 public:
  explicit RuleSetOf(const Settings& settings) : config_(parse<Config>(settings)) {}
  Outcome replay(const Replay& replay) const override { return kReplay(replay, config_); }

 private:
  Config config_;
};

// For rule sets with their own schedulers. Returns the placement, by default the first listed.
// Throws InputError unless `policy` and `placement` are listed. A listed name such as "dlas-gpu-N"
// matches any N.
std::string check_supported(const std::string& rules, const std::string& policy,
                            const std::string& placement);

}  // namespace yard
