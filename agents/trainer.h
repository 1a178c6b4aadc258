// The training loop: roll out, estimate advantages, update, validate now and then, keep the best;
// all of it resumable exactly. What to train on is handed in; what to do with figures is the
// caller's.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/ppo_config.h"
#include "env/batch/batch_env.h"
#include "env/sim/workload.h"
#include "policies/learned/checkpoint.h"

namespace yard {

struct TrainConfig {
  // What the agent is and where it starts.
  std::string agent = "pilot";
  int hidden = 32;
  uint64_t seed = 1;
  // How long.
  int updates = 20;
  int validate_every = 2;
  // Worlds.
  int worlds = 32;
  int threads = 2;
  int group = 8;
  int episode_jobs = 256;
  int max_decisions = 20'000;
  // The task.
  std::string placement = "first-fit";
  bool preempt = true;
  double gpu_exponent = 1;
  double margin_log2 = 1;
  double shrink = 1;
  double sibling_prior = 0.5;
  double spread = 0.7;
  double spread_batch = 0.9;
  double spread_user = 0.6;
  double quantum_s = 60;
  double tick_s = 300;
  int held_rows = 24;
  int waiting_rows = 56;
  double prior_gap = 0.5;
  double prior_slope = 3;
  double prior_other = 0.02;
  double average = 0.9;
  PpoConfig ppo;

  void fields(FieldList& f);
  DispatchConfig task() const;
};

struct TrainStats {
  int update = 0;
  int64_t samples = 0;       // decisions so far
  double samples_per_s = 0;  // over the last update
  double mean_jct_s = 0;     // of the episodes that ended in it; 0: none did
  double policy_loss = 0, value_loss = 0, entropy = 0, approx_kl = 0, clip_fraction = 0;
  double explained_variance = 0, lr = 0;
  double validation = 0;  // of this update, 0 when it was not judged
  double agreement = 0;   // how often the action was the one that the index suggests
};

struct TrainEvents {
  std::function<void(const TrainStats&)> on_update;
  // Returns how good a policy is, lower is better; asked every `validate_every` updates.
  std::function<double(const Checkpoint&, int update)> validate;
  // The update's validation is done and what was worth keeping is kept: the moment to save.
  std::function<void()> validated;
  // A better one was found, or (`best` false) training ended with this one.
  std::function<void(const Checkpoint&, int update, double score, bool best)> keep;
};

class Trainer {
 public:
  // Requires: `fixed` and `workload` outlive the trainer.
  Trainer(const TrainConfig& config, const Fixed& fixed, const Workload& workload,
          nlohmann::ordered_json provenance);
  ~Trainer();

  // Trains from where it stands to the last update. Throws RunError when the loss is no longer
  // finite; Interrupted, and the update under way is then made anew when training is resumed.
  void run(const TrainEvents& events);

  // All that run() needs to go on as if it had never stopped, in one folder, replaced as a whole.
  void save(const std::filesystem::path& folder) const;
  void restore(const std::filesystem::path& folder);  // throws InputError

  int update() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

// Returns the largest difference between the outputs of the checkpoint's golden states and what
// LibTorch computes for them from the same weights.
double torch_difference(const Checkpoint& checkpoint);

}  // namespace yard
