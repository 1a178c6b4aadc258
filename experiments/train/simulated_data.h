// Training data from simulated workloads: jobs to train on, and windows of jobs to validate on.
#pragma once

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "env/base/config/settings.h"
#include "env/batch/batch_env.h"
#include "env/sim/rulesets/rule_set.h"
#include "experiments/scenario/scenario.h"
#include "experiments/train/training_data.h"
#include "policies/policy.h"

namespace yard {

struct TrainingDataConfig {
  std::string agent = "dispatcher";
  std::string trace = "synthetic:habits";
  std::string format;
  std::string columns;  // FIELD=COLUMN,...: column names of the trace file
  std::string cluster = "8x8";
  std::string from;  // start of the part to use; empty: start of the trace
  std::string to;
  int trace_jobs = 20'000;  // number of generated jobs
  uint64_t trace_seed = 1001;
  std::string profiles;          // comma-separated files or folders of measured speeds
  std::string speeds = "exact";  // speeds known to policies in validation
  double congestion = 0;
  double cost_scale = 1;
  bool skip_unusable = false;
  std::string cells;
  std::vector<std::string> only, validate_on;
  int draws = 4;
  std::vector<std::string> generator;  // settings of the trace generator: key=value
  double validate_share = 0.2;
  int validate_windows = 4;
  int validate_jobs = 500;
  uint64_t validate_seed = 2001;
  int adapt_updates = 0;
  int keep = 2;
  std::string from_log;  // decision log to train on instead of simulated jobs
  int log_draws = 5;

  void fields(FieldList& f);
};

// Jobs to train on and windows of jobs to validate on, with no job in both.
class SimulatedData final : public TrainingData {
 public:
  // `reference`: policy with which validation compares. If the data have fewer jobs than
  // `episode_jobs`, an episode has all jobs, and notes() say so. Throws InputError.
  SimulatedData(const TrainingDataConfig& config, int episode_jobs, const Policy& reference);

  // Returns specs of training environments, which point into this object.
  std::vector<EnvSpec> env_specs() const;

  std::unique_ptr<VectorEnv> worlds(const TrainableAgent& agent,
                                    const VectorEnvOptions& options) const override {
    return agent.make_environments(env_specs(), limit_episode_jobs(options, episode_jobs_));
  }

  // Returns log ratios of mean JCT to the reference's by window, and their exponentiated mean.
  ValidationResult validate(const Checkpoint& checkpoint) const override;
  ValidationResult validate_checkpoint_per_workload(const TrainableAgent& agent,
                                                    const MakeCheckpoint& adapt) const override;

  Envelope envelope(const Checkpoint& checkpoint) const override;

  std::string score_description(const std::string& heuristic) const override {
    const size_t windows = windows_.size();
    return "mean JCT divided by that of " + heuristic + " on " + std::to_string(windows) +
           " validation window" + (windows == 1 ? "" : "s");
  }

  std::vector<std::string> notes() const override;
  nlohmann::ordered_json provenance() const override;
  std::string name() const override;    // file name of the trace or the cells
  std::string sha256() const override;  // hash over all traces

 private:
  // A workload on a cluster, in which all jobs are scored.
  using ScenarioPtr = std::unique_ptr<Scenario>;
  struct Window {
    size_t scenario;  // index into validation_scenarios_
    int32_t first, end;
    double reference_s;
  };
  static VectorEnvOptions limit_episode_jobs(VectorEnvOptions options, int max_jobs) {
    options.episode_jobs = std::min(options.episode_jobs, max_jobs);
    return options;
  }
  void read_trace();
  void read_cells();
  static ScenarioPtr scenario_of_jobs(Trace jobs, const Scenario& like);
  void add_validation_jobs(Trace jobs, const Scenario& like);
  // Plays some of the scenario's jobs under `decider`.
  Outcome play(const Scenario& scenario, int32_t first, int32_t end, Decider& decider) const;
  double mean_jct_s(const Policy& policy, const Window& window) const;
  std::vector<double> log_ratios(const Policy& policy, std::span<const Window> windows) const;

  TrainingDataConfig config_;
  SpeedInformation speeds_;
  std::vector<ScenarioPtr> training_scenarios_, validation_scenarios_;
  std::vector<ScenarioPtr> adaptation_scenarios_;  // first halves of held-out traces, or empty
  std::vector<Window> windows_;
  std::vector<std::string> skipped_cells_;  // names of skipped cells, with the reason
  std::vector<std::string> notes_;          // notes for users about traces and episodes
  int episode_jobs_ = 0;                    // maximum number of jobs per episode
};

}  // namespace yard
