#include "agents/train/train_config.h"

#include "env/base/core/error.h"

namespace yard {

void OptimizerConfig::fields(FieldList& f) {
  f("lr", lr, 0.0, 1.0, "Adam step size at the start; falls linearly to 0");
  f("epochs", epochs, 1, 100, "passes over an update's samples");
  f("minibatch", minibatch, 1, 1'000'000, "samples a gradient step, of all ranks together");
  f("max_grad_norm", max_grad_norm, 0.0, 1e9, "global norm that gradients are cut to");
  f("target_kl", target_kl, 0.0, 1e9, "an update stops early beyond this divergence");
}

void TrainConfig::fields(FieldList& f) {
  f("learner", learner, "how experience becomes a better policy; see list learners");
  f("network", network, "what is trained; see list networks");
  f("start", start, "folder of a checkpoint whose weights training begins with");
  f("seed", seed, 0, UINT64_MAX, "decides everything random");
  f("updates", updates, 0, 1'000'000,
    "updates in all; 0: the untrained network is validated alone");
  f("validate_every", validate_every, 1, 1'000'000, "updates between validations");
  f("patience", patience, 0, 1'000'000,
    "training ends after so many validations without a better one; 0: never");
  f("stop_kl", stop_kl, 0.0, 1e9,
    "training fails when approx_kl is above it for three updates in a row");
  f("stop_explained_variance", stop_explained_variance, -1e300, 1.0,
    "likewise when explained_variance is below it");
  f("worlds", worlds, 1, 65'536, "worlds that play at once, of all ranks together");
  f("threads", threads, 1, 256,
    "threads of a rank: they move worlds and share large minibatches; they change no result");
  f("group", group, 1, 65'536,
    "neighbouring worlds that play the same jobs, where the learner compares them");
  f("episode_jobs", episode_jobs, 1, 1'000'000, "jobs an episode");
  f("max_decisions", max_decisions, 0, 1'000'000'000,
    "an episode is cut off after so many; 0: never");
  f("horizon_s", horizon_s, 1.0, 1e12, "seconds after which a reward counts 1/e");
  f("reward_scale", reward_scale, 0.0, 1e12,
    "rewards are multiplied by it; 0: by 1 / (their mean a second x horizon_s)");
  optimizer_config.fields(f);
  f("average", average, 0.0, 0.9999,
    "what is kept is an average of weights with this decay an update");
  f("meta_updates", meta_updates, 0, 1'000'000,
    "meta-learning: so many updates on one course, then the next from weights drawn along; 0: "
    "none");
  f("meta_step", meta_step, 0.0, 1.0,
    "how far they are drawn to what a course came to, at first; falls linearly to 0");
}

void TrainConfig::check(int ranks, bool groups) const {
  if (worlds % ranks != 0) {
    throw InputError("worlds", "a multiple of the " + std::to_string(ranks) + " ranks",
                     std::to_string(worlds));
  }
  const auto whole_tasks = [&](const char* name, int number) {
    if (meta_updates == 0 || number % meta_updates == 0) return;
    throw InputError(name, "a multiple of meta_updates = " + std::to_string(meta_updates),
                     std::to_string(number));
  };
  whole_tasks("updates", updates);
  whole_tasks("validate_every", validate_every);
  if (!groups) return;
  if (group < 2) throw InputError("group", "at least 2 for learner " + learner, "1");
  if (worlds / ranks % group != 0) {
    throw InputError("worlds",
                     "whole groups of " + std::to_string(group) +
                         (ranks > 1 ? " on each of the " + std::to_string(ranks) + " ranks" : ""),
                     std::to_string(worlds / ranks));
  }
}

}  // namespace yard
