// The settings of a training run, split by the part which declares each setting: data, training
// loop, agent, learner or network.
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
  // All settings, each with its resolved value.
  std::vector<std::pair<std::string, std::string>> resolved;

  std::string value(const std::string& key) const;  // Requires: `key` is the name of a setting
};

// Adds settings which were not given and follow from given settings. A training run which starts
// from a checkpoint takes the checkpoint's agent and network settings. A training run on a decision
// log clones the log's policy. Throws InputError.
void add_implied_settings(Settings& settings);

// Parses and checks settings. Throws InputError, too, if `ranks` cannot share the environments.
TrainingSetup read_setup(const Settings& settings, int ranks);

// Returns every setting which a training run with `settings` has, each with its default.
std::vector<Field> describe_setup(const Settings& settings);

}  // namespace yard
