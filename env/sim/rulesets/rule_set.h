// Rule sets define how time passes and which costs apply: `default`, and one for each published
// simulator. A rule set replays a workload under a scheduler and returns every job's outcome.
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

constexpr int64_t kRapidRepreemptionUs = 600'000'000;  // limit of JobOutcome::rapid_repreemptions

struct JobOutcome {
  int64_t start_us = kNone;  // the first start
  int64_t end_us = kNone;
  int32_t preemptions = 0;
  int32_t restarts = 0;  // starts after the first
  // Migrations and rapid re-preemptions are counted only if Outcome::counts_edits.
  int32_t migrations = 0;           // preemptions by plans that also start the job on other GPUs
  int32_t rapid_repreemptions = 0;  // preemptions within kRapidRepreemptionUs of the last one
  bool ended_early = false;         // by the policy
  double undone_us = 0;             // work left when the job was ended early
};

struct Outcome {
  std::vector<JobOutcome> jobs;  // (N)  as in the workload
  int64_t begin_us = 0, end_us = 0;
  WideUs held_time_us = 0;    // GPU time held by starting and running jobs
  int64_t events = 0;         // number of times at which an event happened
  int64_t decisions = 0;      // number of calls of the scheduler
  WideUs lost_time_us = 0;    // GPU time of work that failures undid
  int64_t failures = 0;       // number of times that a failure stopped a job
  double moved_bytes = 0;     // between nodes
  bool counts_edits = false;  // whether migrations and rapid_repreemptions were counted

  // Copies the totals of the final state.
  void copy_totals_from(const StateHeader& head) {
    end_us = head.now_us;
    held_time_us = head.held_time_us;
    lost_time_us = head.lost_time_us;
    failures = head.failures;
    moved_bytes = head.moved_bytes;
  }
};

// Which job speeds policies see: exact tables, tables with a log-normal error, or a prior that is
// corrected by the progress of running jobs.
enum class SpeedInformation : uint8_t { kExact, kNoisy, kLearned };

struct Replay {
  const SimModel& fixed;
  const Workload& workload;
  int32_t first_job = 0;
  int32_t end_job = 0;
  std::string policy;  // policy, placement and settings of rule sets with own schedulers
  std::string placement;
  Settings settings;
  Decider* decider = nullptr;  // the scheduler under rule set `default`
  double oracle_noise =
      0.25;  // standard deviation of the log error at InformationLevel::kNoisyOracle
  SpeedInformation speeds = SpeedInformation::kExact;
  double speed_noise = 0.25;  // standard deviation of the log error at SpeedInformation::kNoisy
  uint64_t seed = 1;
  // Trace with all fields of jobs, for rule sets that use more than GPUs and run times.
  const Trace* trace = nullptr;
  const ClusterSpec* cluster = nullptr;        // for rule sets that use the names of GPU types
  const std::vector<Fault>* faults = nullptr;  // from add_fault_ends(); null: the workload's faults
  // Callback after every decision, and when jobs end between decisions.
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
    std::vector<std::string> policies = {};    // empty: all registered policies
    std::vector<std::string> placements = {};  // empty: policy `choose`'s; the first is the default
    std::vector<std::string> oracles = {};     // those of `policies` that see true run times
    // Why a job may start late or run too long even without other jobs; empty: it may not.
    std::string waiver = {};
    // Returns the settings with their defaults: `describe<Config>` of the rule set's own struct.
    std::vector<Field> (*fields)() = describe<NoConfig>;
    std::vector<std::string> needs = {};  // required settings: files of measurements
    double round_s = 0;     // longest interval between decisions; 0: a decision at every event
    double start_s = 0;     // seconds that every start costs
    bool by_types = false;  // whether speeds differ by GPU type
  };

  virtual ~RuleSet() = default;

  // Replays until all scored jobs (all jobs, if no job is scored) are done; unfinished jobs have no
  // end time. Throws RunError if jobs would wait for ever, and InputError for a policy, placement
  // or cluster that the rule set does not support.
  virtual Outcome replay(const Replay& replay) const = 0;
};

using RuleSetRegistry = Registry<RuleSet>;

// A rule set implemented by one function of the replay and of the rule set's settings.
template <class Config, Outcome (*kReplay)(const Replay&, const Config&)>
class FunctionRuleSet final : public RuleSet {
 public:
  explicit FunctionRuleSet(const Settings& settings) : config_(parse<Config>(settings)) {}
  Outcome replay(const Replay& replay) const override { return kReplay(replay, config_); }

 private:
  Config config_;
};

// For rule sets with their own schedulers: returns `placement` or, if empty, the first placement of
// the rule set. Throws InputError unless the rule set lists `policy` and `placement`. A listed name
// such as "dlas-gpu-N" matches any number N.
std::string placement_or_default(const std::string& rules, const std::string& policy,
                                 const std::string& placement);

}  // namespace yard
