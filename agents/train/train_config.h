// Training settings which depend on neither the agent nor the learner. Needs no LibTorch.
#pragma once

#include "env/base/config/settings.h"

namespace yard {

struct OptimizerConfig {
  double learning_rate = 3e-3;
  int update_epochs = 2;
  int minibatch_size = 1024;
  double max_grad_norm = 0.5;
  double target_kl = 0.03;

  void fields(FieldList& f);
};

struct TrainConfig {
  std::string learner = "group";
  std::string network = "job-scorer";
  std::string start;  // folder of a checkpoint with the initial weights, or ""
  uint64_t seed = 1;
  // Length of a training and conditions to stop early.
  int updates = 20;
  int validate_every = 2;
  int patience = 0;
  double stop_kl = 1;
  double stop_explained_variance = -1000;
  // Environments.
  int num_envs = 32;
  int threads = 2;
  int group = 8;
  int episode_jobs = 256;
  int max_decisions = 20'000;
  // Rewards.
  double horizon_s = 8'000;
  double reward_scale = 0;
  OptimizerConfig optimizer_config;
  double average = 0.9;
  // Meta-learning (reptile.h).
  int meta_updates = 0;
  double meta_step = 0.5;

  void fields(FieldList& f);

  // Throws InputError if settings conflict on `ranks` processes. `groups`: the learner uses groups.
  void check(int ranks, bool groups) const;
};

}  // namespace yard
