// A training's settings, taken apart: each goes to whoever declares it, the data, the loop, or the
// agent, learner and network that are named.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agents/train_config.h"
#include "env/base/settings.h"
#include "experiments/programs/train/training.h"

namespace yard {

struct TrainingSetup {
  TrainingConfig data;
  TrainConfig loop;
  Settings agent, learner, network;
  // Every setting with its resolved value.
  std::vector<std::pair<std::string, std::string>> resolved;

  std::string value(const std::string& key) const;  // Requires: it is a setting
};

// Fills in what nobody set and what goes with the rest: a training that begins with a checkpoint
// has the settings of its agent and network, one from a decision log is a clone of it and shows all
// that the log's policy may have looked at. Throws InputError.
void complete(Settings& settings);

// Throws InputError, also where so many ranks cannot share the worlds out.
TrainingSetup read_setup(const Settings& settings, int ranks);

// Every setting that a training with these would have, with its default.
std::vector<Field> describe_setup(const Settings& settings);

}  // namespace yard
