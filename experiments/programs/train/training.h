// What a training is made of, from one typed struct of settings: jobs to learn from, windows to
// validate on, and the learner's own settings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents/trainer.h"
#include "env/base/settings.h"
#include "experiments/scenario.h"
#include "policies/policy.h"

namespace yard {

struct TrainingConfig {
  std::string trace = "synthetic:habits";
  std::string format;
  std::string cluster = "8x8";
  std::string from;  // of the trace's time; empty: all
  std::string to;
  int trace_jobs = 20'000;  // how many a generator makes
  uint64_t trace_seed = 1001;
  double congestion = 0;
  double cost_scale = 1;
  bool skip_unusable = false;
  std::vector<std::string> generator;  // key=value of a generator
  double validate_share = 0.2;
  int validate_windows = 4;
  int validate_jobs = 500;
  uint64_t validate_seed = 2001;
  TrainConfig learner;

  void fields(FieldList& f);
};

// Jobs to learn from and windows to validate on, none of them in both.
class TrainingData {
 public:
  // Throws InputError.
  explicit TrainingData(const TrainingConfig& config);

  const Fixed& fixed() const { return train_->fixed; }
  const Workload& workload() const { return *workload_; }

  // Returns the mean over validation windows of mean JCT over that of `srsf-history` as it comes.
  double validate(const Policy& policy) const;

  nlohmann::ordered_json provenance() const;
  std::string sha256() const { return train_->trace.sha256; }

 private:
  struct Window {
    int32_t first, end;
    double reference_s;
  };
  double mean_jct_s(const Policy& policy, int32_t first, int32_t end) const;

  TrainingConfig config_;
  std::unique_ptr<Scenario> train_,
      validation_;  // validation_: of a generator; else held out of train_
  std::unique_ptr<Workload> workload_, held_out_;
  Fixed held_out_fixed_;
  std::vector<Window> windows_;
};

}  // namespace yard
