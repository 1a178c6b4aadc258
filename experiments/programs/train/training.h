// Training data from simulated workloads: jobs to train on, and validation windows of other jobs.
#pragma once

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "env/base/settings.h"
#include "env/batch/batch_env.h"
#include "env/sim/pacing.h"
#include "experiments/programs/train/lessons.h"
#include "experiments/scenario.h"
#include "policies/policy.h"

namespace yard {

struct TrainingConfig {
  std::string agent = "dispatcher";
  std::string trace = "synthetic:habits";
  std::string format;
  std::string columns;  // NAME=COLUMN,...: names of the file's columns
  std::string cluster = "8x8";
  std::string from;  // start of the part of the trace to use; empty: its start
  std::string to;
  int trace_jobs = 20'000;  // generated jobs
  uint64_t trace_seed = 1001;
  std::string profiles;         // files or folders of measured speeds, comma-separated
  std::string speeds = "told";  // information about speeds in validation
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
  std::string from_log;  // a decision log instead of all of these
  int log_draws = 5;

  void fields(FieldList& f);
};

// Jobs to train on and validation windows, without common jobs.
class TrainingData final : public Lessons {
 public:
  // `reference`: the policy which validation compares with. If there are fewer jobs than
  // `episode_jobs`, episodes have all of them, and notes() mention it. Throws InputError.
  TrainingData(const TrainingConfig& config, int episode_jobs, const Policy& reference);

  // The courses point into this object.
  std::vector<Course> courses() const;

  std::unique_ptr<Worlds> worlds(const Agent& agent, const WorldsOptions& options) const override {
    return agent.worlds(courses(), within(options, episode_jobs_));
  }

  // Log ratios of mean JCT to the reference's by window; the score is the ratios' geometric mean.
  Judgement judge(const Checkpoint& checkpoint) const override;
  Judgement judge_adapted(const Agent& agent, const Adapt& adapt) const override;

  std::string measure(const std::string& heuristic) const override {
    const size_t windows = windows_.size();
    return "mean JCT over that of " + heuristic + " on " + std::to_string(windows) +
           " validation window" + (windows == 1 ? "" : "s");
  }

  std::vector<std::string> notes() const override;
  nlohmann::ordered_json provenance() const override;
  std::string name() const override;    // file name of the trace or of the cells
  std::string sha256() const override;  // over all traces

 private:
  // A workload on a cluster, all of whose jobs are scored.
  using Ground = std::unique_ptr<Scenario>;
  struct Window {
    size_t ground;  // index into held_out_
    int32_t first, end;
    double reference_s;
  };
  static WorldsOptions within(WorldsOptions options, int most) {
    options.episode_jobs = std::min(options.episode_jobs, most);
    return options;
  }
  nlohmann::ordered_json provenance_of_jobs() const;
  void read_trace();
  void read_cells();
  static Ground ground_of(Trace jobs, const Scenario& like);
  void hold_out(Trace jobs, const Scenario& like);
  double mean_jct_s(const Policy& policy, const Window& window) const;
  std::vector<double> log_ratios(const Policy& policy, std::span<const Window> windows) const;

  TrainingConfig config_;
  SpeedLevel speeds_;
  std::vector<Ground> grounds_, held_out_;
  std::vector<Ground> to_adapt_to_;  // for each of held_out_, its earlier jobs; empty: unused
  std::vector<Window> windows_;
  std::vector<std::string> left_out_;  // cells, with the reason
  std::vector<std::string> notes_;     // about traces and episodes
  int episode_jobs_ = 0;               // upper limit
};

}  // namespace yard
