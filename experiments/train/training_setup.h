// The settings of a training, split by the part which declares them: data, training loop, agent,
// learner or network.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agents/train/train_config.h"
#include "env/base/config/settings.h"
#include "experiments/train/simulated_data.h"

namespace yard {

struct TrainingSetup {
  TrainingDataConfig data;
  TrainConfig loop;
  Settings agent, learner, network;
  // Every setting with its resolved value.
  std::vector<std::pair<std::string, std::string>> resolved;

  std::string value(const std::string& key) const;  // Requires: `key` is a setting
};

// Adds settings which follow from other settings and were not given. A training which starts from a
// checkpoint takes the checkpoint's agent and network settings. A training from a decision log
// clones the log's policy. Throws InputError.
void complete_settings(Settings& settings);

// Parses and checks. Throws InputError, also if `ranks` processes cannot share the environments.
TrainingSetup read_setup(const Settings& settings, int ranks);

// Returns every setting which a training with these settings has, with its default.
std::vector<Field> describe_setup(const Settings& settings);

}  // namespace yard
