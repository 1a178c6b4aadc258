// What a training learns from: jobs, and windows of other jobs to validate on.
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
  std::string columns;  // NAME=COLUMN,...: what the file calls them
  std::string cluster = "8x8";
  std::string from;  // of the trace's time; empty: all
  std::string to;
  int trace_jobs = 20'000;  // how many a generator makes
  uint64_t trace_seed = 1001;
  std::string profiles;         // files or folders of measured speeds, joined by commas
  std::string speeds = "told";  // what policies may know of them as they validate
  double congestion = 0;
  double cost_scale = 1;
  bool skip_unusable = false;
  std::string cells;
  std::vector<std::string> only, validate_on;
  int draws = 4;
  std::vector<std::string> generator;  // key=value of a generator
  double validate_share = 0.2;
  int validate_windows = 4;
  int validate_jobs = 500;
  uint64_t validate_seed = 2001;
  int adapt_updates = 0;
  int keep = 2;
  std::string from_log;  // a decision log in the place of all of it
  int log_draws = 5;

  void fields(FieldList& f);
};

// Jobs to learn from and windows to validate on, none of them in both.
class TrainingData final : public Lessons {
 public:
  // `reference`: what validation compares with. Where there are fewer jobs than an episode is to
  // have, episodes have as many as there are, which notes() say. Throws InputError.
  TrainingData(const TrainingConfig& config, int episode_jobs, const Policy& reference);

  // Point into this.
  std::vector<Course> courses() const;

  std::unique_ptr<Worlds> worlds(const Agent& agent, const WorldsOptions& options) const override {
    return agent.worlds(courses(), within(options, episode_jobs_));
  }

  // Of validation windows: mean JCT over the reference's, and its geometric mean as the score.
  Judgement judge(const Checkpoint& checkpoint) const override;
  Judgement judge_adapted(const Agent& agent, const Adapt& adapt) const override;

  std::string measure(const std::string& heuristic) const override {
    const size_t windows = windows_.size();
    return "mean JCT over that of " + heuristic + " on " + std::to_string(windows) +
           " validation window" + (windows == 1 ? "" : "s");
  }

  std::vector<std::string> notes() const override;
  nlohmann::ordered_json provenance() const override;
  std::string name() const override;    // the trace's, or that of the file of cells
  std::string sha256() const override;  // of all traces

 private:
  // Jobs that are all scored, one after the other on a cluster.
  using Ground = std::unique_ptr<Scenario>;
  struct Window {
    size_t ground;  // in held_out_
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
  std::vector<Ground> to_adapt_to_;  // of each held out, others; empty: nobody adapts
  std::vector<Window> windows_;
  std::vector<std::string> left_out_;  // cells, with why
  std::vector<std::string> notes_;     // on traces and episodes
  int episode_jobs_ = 0;               // at most
};

}  // namespace yard
