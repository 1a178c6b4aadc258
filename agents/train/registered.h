// Lists registered learners and networks with their settings, without LibTorch headers.
#pragma once

#include <string>
#include <vector>

#include "agents/train/train_config.h"

namespace yard {

struct RegisteredInfo {
  std::string name, about, source;
  std::vector<Field> settings;
};

std::vector<RegisteredInfo> registered_learners();
std::vector<RegisteredInfo> registered_networks();

// Throws InputError if the learner or the network is unknown, refuses its settings, or does not fit
// the rest of `config` on `ranks` ranks.
void check_training(const TrainConfig& config, const Settings& learner, const Settings& network,
                    int ranks);

}  // namespace yard
