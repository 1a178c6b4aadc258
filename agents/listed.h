// The learners and networks that are registered, for whoever reads settings without LibTorch.
#pragma once

#include <string>
#include <vector>

#include "agents/train_config.h"

namespace yard {

struct Listed {
  std::string name, about, source;
  std::vector<Field> settings;
};

std::vector<Listed> listed_learners();
std::vector<Listed> listed_networks();

// Throws InputError when learner or network is unknown, refuses its settings, or does not go
// together with the rest of `config` on so many ranks.
void check_training(const TrainConfig& config, const Settings& learner, const Settings& network,
                    int ranks);

}  // namespace yard
