#include "agents/train/train_config.h"

#include "env/base/core/error.h"

namespace yard {

void OptimizerConfig::fields(FieldList& f) {
  f("learning_rate", learning_rate, 0.0, 1.0, "initial Adam step size; falls linearly to 0");
  f("update_epochs", update_epochs, 1, 100, "passes over an update's samples");
  f("minibatch_size", minibatch_size, 1, 1'000'000, "samples per gradient step, over all ranks");
  f("max_grad_norm", max_grad_norm, 0.0, 1e9, "global norm to which gradients are clipped");
  f("target_kl", target_kl, 0.0, 1e9, "an update stops early above this KL divergence");
}

void TrainConfig::fields(FieldList& f) {
  f("learner", learner, "learning algorithm; see list learners");
  f("network", network, "network architecture; see list networks");
  f("start", start, "folder of a checkpoint with the initial weights");
  f("seed", seed, 0, UINT64_MAX, "seed of all random numbers");
  f("updates", updates, 0, 1'000'000, "number of updates; 0: only validate the untrained network");
  f("validate_every", validate_every, 1, 1'000'000, "updates between validations");
  f("patience", patience, 0, 1'000'000,
    "training ends after this many validations without improvement; 0: never");
  f("stop_kl", stop_kl, 0.0, 1e9,
    "training fails if approx_kl is above this limit for three updates in a row");
  f("stop_explained_variance", stop_explained_variance, -1e300, 1.0,
    "training fails if explained_variance is below this limit for three updates in a row");
  f("num_envs", num_envs, 1, 65'536, "environments simulated in parallel, over all ranks");
  f("threads", threads, 1, 256,
    "threads per rank, for environments and large minibatches; results do not depend on it");
  f("group", group, 1, 65'536,
    "consecutive environments with the same jobs, for learners that compare them");
  f("episode_jobs", episode_jobs, 1, 1'000'000, "jobs per episode");
  f("max_decisions", max_decisions, 0, 1'000'000'000,
    "an episode is truncated after this many decisions; 0: never");
  f("horizon_s", horizon_s, 1.0, 1e12,
    "discount horizon in seconds: a reward this far ahead counts 1/e");
  f("reward_scale", reward_scale, 0.0, 1e12,
    "factor of rewards; 0: 1 / (mean reward per second x horizon_s)");
  optimizer_config.fields(f);
  f("average", average, 0.0, 0.9999,
    "decay per update of the average of weights that is validated and saved");
  f("meta_updates", meta_updates, 0, 1'000'000,
    "meta-learning: updates on each trace and cluster before the next; 0: no meta-learning");
  f("meta_step", meta_step, 0.0, 1.0,
    "meta-learning: initial step towards the weights after each of these trainings; falls linearly "
    "to 0");
}

void TrainConfig::check(int ranks, bool groups) const {
  if (num_envs % ranks != 0) {
    throw InputError("num_envs", "a multiple of the " + std::to_string(ranks) + " ranks",
                     std::to_string(num_envs));
  }
  const auto check_multiple_of_meta_updates = [&](const char* name, int number) {
    if (meta_updates == 0 || number % meta_updates == 0) return;
    throw InputError(name, "a multiple of meta_updates = " + std::to_string(meta_updates),
                     std::to_string(number));
  };
  check_multiple_of_meta_updates("updates", updates);
  check_multiple_of_meta_updates("validate_every", validate_every);
  if (!groups) return;
  if (group < 2) throw InputError("group", "at least 2 for learner " + learner, "1");
  if (num_envs / ranks % group != 0) {
    throw InputError("num_envs",
                     "a multiple of group = " + std::to_string(group) +
                         (ranks > 1 ? " on each of the " + std::to_string(ranks) + " ranks" : ""),
                     std::to_string(num_envs / ranks));
  }
}

}  // namespace yard
