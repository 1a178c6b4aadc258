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

// Update 0, the untrained network, has a validation score only.
struct TrainStats {
  int update = 0;
  int64_t samples = 0;  // number of decisions so far, of all ranks
  int64_t episodes =
      0;  // episodes that have ended, of all ranks, including those for the normaliser
  double samples_per_s = 0;  // samples per second in the last update
  double rows = 0;           // mean per decision
  double mean_jct_s = 0;     // mean JCT of the episodes which ended in this update; 0: none ended
  double agreement = 0;      // share of decisions equal to the expert's
  double lr = 0;
  double validation = 0;  // score of this update; 0: not validated
  // The learner's own, approx_kl, grad_norm and, with a critic, explained_variance.
  std::vector<std::pair<std::string, double>> metrics;
};

// All but `save` are called on rank 0 only.
struct TrainCallbacks {
  std::function<void(const TrainStats&)> on_update;
  // Returns the score of a policy; lower is better. Called for the untrained network, as update 0,
  // and every `validate_every` updates.
  std::function<double(const TrainingResult&, int update)> validate;
  // Called after a validation. `best`: the score is better than all before, including that of the
  // untrained network.
  std::function<void(const TrainingResult&, int update, double score, bool best)> validated;
  // Called on every rank after the above: the moment to save.
  std::function<void()> save;
};

class Trainer {
 public:
  using MakeVectorEnv = std::function<std::unique_ptr<VectorEnv>(const VectorEnvOptions&)>;

  // `learner` and `network` are the settings of those which `config` names. Throws InputError if
  // the settings conflict. Requires: `ranks` and the data behind the environments outlive the
  // trainer.
  Trainer(const TrainConfig& config, const Settings& learner, const Settings& network,
          const MakeVectorEnv& make_worlds, Communicator& ranks, nlohmann::ordered_json provenance);
  ~Trainer();

  // Starts from the policy weights and the normaliser of a checkpoint; the critic is fresh. Throws
  // InputError, naming `where`, if the weights are those of another network. Requires: config.start
  // is set; no update was made.
  void start_from(const Tensors& weights, const std::string& where);

  // Trains to the last update, or through update `until` if that is sooner. Validates the untrained
  // network before the first update. Throws RunError, naming the update and the cause, if a value
  // is not finite or training diverges. Throws Interrupted; the unfinished update is then repeated
  // on resumption.
  void run(const TrainCallbacks& events, int until = INT32_MAX);

  // Save and restore all state which run() needs to continue exactly, in one folder that is
  // replaced atomically. Rank 0 writes and reads; every rank must call.
  void save(const std::filesystem::path& folder) const;
  void restore(const std::filesystem::path& folder);  // throws InputError

  int update() const;
  double latest_score() const;     // score of the last validation; 0 before the first validation
  double untrained_score() const;  // score of update 0, the untrained network; 0: not validated
  bool done() const;               // whether all updates are made, or patience has run out
  TrainingResult trained() const;
  // Seconds by stage since construction, see profile.h.
  std::vector<std::pair<std::string, double>> profile() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
