// The training loop: collect, compute advantages, update, validate, stop early. A training resumes
// exactly from a saved state, with one process or many.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/ranks/communicator.h"
#include "agents/rollout/vector_env.h"
#include "agents/train/train_config.h"
#include "agents/train/training_result.h"

namespace yard {

// Statistics of an update. Update 0 is the untrained network and has only a validation score.
struct TrainStats {
  int update = 0;
  int64_t samples = 0;       // decisions of all ranks since the training began
  int64_t episodes = 0;      // episodes of all ranks that ended since the training began
  double samples_per_s = 0;  // decisions per wall-clock second in the last update
  double rows = 0;           // mean number of rows per decision
  double mean_jct_s = 0;     // mean JCT of episodes which ended in this update; 0: none
  double agreement = 0;      // share of decisions equal to the expert's
  double lr = 0;
  double validation = 0;  // validation score of this update; 0: not validated
  // Metrics of the learner, approx_kl, grad_norm and, with a critic, explained_variance.
  std::vector<std::pair<std::string, double>> metrics;
};

// Rank 0 calls all callbacks; the other ranks call only `save`.
struct TrainCallbacks {
  std::function<void(const TrainStats&)> on_update;
  // Returns the score of a policy; lower is better. Training calls `validate` for the untrained
  // network (update 0) and every `validate_every` updates.
  std::function<double(const TrainingResult&, int update)> validate;
  // Called after a validation. `best`: the score is the best so far,
  // that of the untrained network included.
  std::function<void(const TrainingResult&, int update, double score, bool best)> validated;
  // Called on every rank after a validated update and when run() ends, to save the training.
  std::function<void()> save;
};

class Trainer {
 public:
  using MakeVectorEnv = std::function<std::unique_ptr<VectorEnv>(const VectorEnvOptions&)>;

  // `learner` and `network` are settings of the learner and network in `config`. Throws InputError
  // if settings conflict. Requires: `ranks` and the data of the environments outlive the trainer.
  Trainer(const TrainConfig& config, const Settings& learner, const Settings& network,
          const MakeVectorEnv& make_worlds, Communicator& ranks, nlohmann::ordered_json provenance);
  ~Trainer();

  // Starts from the policy weights and the normaliser of a checkpoint; the critic is fresh. Throws
  // InputError naming `where` if the weights do not fit. Requires: config.start is set; no update
  // was made.
  void start_from(const Tensors& weights, const std::string& where);

  // Trains to the last update, or through update `until` if that is sooner. Validates the untrained
  // network before the first update. Throws RunError, naming the update and the cause, if a value
  // is not finite or training diverges. If interrupted, throws Interrupted; a resumed training
  // repeats the unfinished update.
  void run(const TrainCallbacks& events, int until = INT32_MAX);

  // Save and restore all state which run() needs to continue exactly, in one folder that is
  // replaced atomically. Rank 0 accesses the folder, but every rank must make the call.
  void save(const std::filesystem::path& folder) const;
  void restore(const std::filesystem::path& folder);  // throws InputError

  int update() const;
  double latest_score() const;     // score of the last validation, 0 before the first one
  double untrained_score() const;  // score of the untrained network; 0: not validated
  bool done() const;               // whether all updates are made or patience has run out
  TrainingResult trained() const;
  // Returns the seconds of each stage since construction, see stage_timer.h.
  std::vector<std::pair<std::string, double>> stage_seconds() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
