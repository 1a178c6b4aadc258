// The training loop: roll out, judge, update, validate now and then, stop when it is no use; all of
// it resumable exactly, on one process or many. What to train on is handed in; what to do with
// figures and weights is the caller's.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/communicator.h"
#include "agents/train_config.h"
#include "agents/trained.h"
#include "agents/worlds.h"

namespace yard {

// Of update 0, the untrained network, there is its validation alone.
struct TrainStats {
  int update = 0;
  int64_t samples = 0;  // decisions so far, of all ranks
  // Episodes that ended so far, of all ranks, those that only fitted the normaliser among them.
  int64_t episodes = 0;
  double samples_per_s = 0;  // over the last update
  double rows = 0;           // of a decision, mean
  double mean_jct_s = 0;     // of the episodes that ended in it; 0: none did
  double agreement = 0;      // how often the action was the one that the heuristic suggests
  double lr = 0;
  double validation = 0;  // of this update, 0 when it was not judged
  // What the learner reports, approx_kl, grad_norm and, with a critic, explained_variance.
  std::vector<std::pair<std::string, double>> figures;
};

// All but `save` are asked on rank 0 only.
struct TrainEvents {
  std::function<void(const TrainStats&)> on_update;
  // Returns how good a policy is, lower is better; asked about the untrained network, as update 0,
  // and every `validate_every` updates.
  std::function<double(const Trained&, int update)> validate;
  // It was judged; `best`: none before was better, the untrained network among them.
  std::function<void(const Trained&, int update, double score, bool best)> validated;
  // What was worth keeping is kept: the moment to save, on every rank.
  std::function<void()> save;
};

class Trainer {
 public:
  using MakeWorlds = std::function<std::unique_ptr<Worlds>(const WorldsOptions&)>;

  // `learner` and `network` are those that `config` names, `settings` theirs. Throws InputError
  // when they do not go together. Requires: `ranks`, and what the worlds read, outlive the trainer.
  Trainer(const TrainConfig& config, const Settings& learner, const Settings& network,
          const MakeWorlds& make_worlds, Communicator& ranks, nlohmann::ordered_json provenance);
  ~Trainer();

  // Begins with the weights of a checkpoint, its normaliser among them, and a critic of its own.
  // Throws InputError naming `where` when they are another network's. Requires: config.start says
  // that it does; no update was made.
  void start_from(const Tensors& weights, const std::string& where);

  // Trains from where it stands to the last update, or through update `until`, where that is
  // sooner; before the first update it judges the untrained network. Throws RunError, naming the
  // update and what it was, when a figure is not finite or training diverges; Interrupted, and the
  // update under way is then made anew when training is resumed.
  void run(const TrainEvents& events, int until = INT32_MAX);

  // All that run() needs to go on as if it had never stopped, in one folder, replaced as a whole.
  // Rank 0 writes and reads; every rank calls.
  void save(const std::filesystem::path& folder) const;
  void restore(const std::filesystem::path& folder);  // throws InputError

  int update() const;
  double latest_score() const;     // of the last validation, 0 before the first
  double untrained_score() const;  // of update 0; 0: not judged
  bool done() const;               // all updates are made, or patience is at an end
  Trained trained() const;
  // Seconds by stage since the trainer was made, see profile.h.
  std::vector<std::pair<std::string, double>> profile() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
