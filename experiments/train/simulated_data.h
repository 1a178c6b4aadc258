// Training data from simulated workloads: jobs to train on, and validation windows of other jobs.
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
  std::string columns;  // NAME=COLUMN,...: names of the file's columns
  std::string cluster = "8x8";
  std::string from;  // start of the part of the trace to use; empty: its start
  std::string to;
  int trace_jobs = 20'000;  // generated jobs
  uint64_t trace_seed = 1001;
  std::string profiles;          // files or folders of measured speeds, comma-separated
  std::string speeds = "exact";  // information about speeds in validation
  double congestion = 0;
  double cost_scale = 1;
  bool skip_unusable = false;
  std::string cells;
  std::vector<std::string> only, validate_on;
  int draws = 4;
  std::vector<std::string> generator;  // key=value settings of a generator
  double validate_share = 0.2;
  int validate_windows = 4;
  int validate_jobs = 500;
  uint64_t validate_seed = 2001;
  int adapt_updates = 0;
  int keep = 2;
  std::string from_log;  // decision log to learn from, instead of a simulated trace
  int log_draws = 5;

  void fields(FieldList& f);
};

// Jobs to train on and validation windows, without common jobs.
class SimulatedData final : public TrainingData {
 public:
  // `reference`: the policy which validation compares with. If there are fewer jobs than
  // `episode_jobs`, episodes have all of them, and notes() mention it. Throws InputError.
  SimulatedData(const TrainingDataConfig& config, int episode_jobs, const Policy& reference);

  // The env_specs point into this object.
  std::vector<EnvSpec> env_specs() const;

  std::unique_ptr<VectorEnv> worlds(const TrainableAgent& agent,
                                    const VectorEnvOptions& options) const override {
    return agent.environments(env_specs(), limit_episode_jobs(options, episode_jobs_));
  }

  // Log ratios of mean JCT to the reference's by window; the score is the ratios' geometric mean.
  ValidationResult validate(const Checkpoint& checkpoint) const override;
  ValidationResult validate_checkpoint_per_workload(const TrainableAgent& agent,
                                                    const MakeCheckpoint& adapt) const override;

  std::string score_description(const std::string& heuristic) const override {
    const size_t windows = windows_.size();
    return "mean JCT divided by that of " + heuristic + " on " + std::to_string(windows) +
           " validation window" + (windows == 1 ? "" : "s");
  }

  std::vector<std::string> notes() const override;
  nlohmann::ordered_json provenance() const override;
  std::string name() const override;    // file name of the trace or of the cells
  std::string sha256() const override;  // over all traces

 private:
  // A workload on a cluster, all of whose jobs are scored.
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
  double mean_jct_s(const Policy& policy, const Window& window) const;
  std::vector<double> log_ratios(const Policy& policy, std::span<const Window> windows) const;

  TrainingDataConfig config_;
  SpeedInformation speeds_;
  std::vector<ScenarioPtr> training_scenarios_, validation_scenarios_;
  std::vector<ScenarioPtr>
      adaptation_scenarios_;  // earlier jobs of validation_scenarios_, or empty
  std::vector<Window> windows_;
  std::vector<std::string> skipped_cells_;  // skipped cells, each with the reason
  std::vector<std::string> notes_;          // notes for the user about traces and episodes
  int episode_jobs_ = 0;                    // upper limit
};

}  // namespace yard
