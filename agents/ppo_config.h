// The settings of PPO, apart so that reading them does not take LibTorch.
#pragma once

#include "env/base/settings.h"

namespace yard {

struct PpoConfig {
  std::string baseline = "group";
  double lr = 3e-3;
  int steps = 128;
  int epochs = 2;
  int minibatch = 1024;
  double clip = 0.2;
  double entropy = 1e-3;
  double value_weight = 0.5;
  double lambda = 0.97;
  double horizon_s = 8'000;
  double max_grad_norm = 0.5;
  double target_kl = 0.03;

  void fields(FieldList& f) {
    f("baseline", baseline, {"group", "critic"},
      "what a return is compared with: that of the group's other worlds, or a learned value");
    f("lr", lr, 0.0, 1.0, "Adam step size at the start; falls linearly to 0");
    f("steps", steps, 1, 100'000,
      "decisions a world between updates, with a critic; with groups, an episode");
    f("epochs", epochs, 1, 100, "passes over them");
    f("minibatch", minibatch, 1, 1'000'000, "samples a gradient step");
    f("clip", clip, 0.0, 1.0, "how far the probability of an action may move in one update");
    f("entropy", entropy, 0.0, 10.0, "weight of the entropy bonus");
    f("value_weight", value_weight, 0.0, 100.0, "weight of the value loss");
    f("lambda", lambda, 0.0, 1.0, "decay of advantages over decisions that let time pass");
    f("horizon_s", horizon_s, 1.0, 1e12, "seconds after which a reward counts 1/e");
    f("max_grad_norm", max_grad_norm, 0.0, 1e9, "global norm that gradients are cut to");
    f("target_kl", target_kl, 0.0, 1e9, "an update stops early beyond this divergence");
  }
};

}  // namespace yard
