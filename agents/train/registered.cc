#include "agents/train/registered.h"

#include "agents/learners/learner.h"

namespace yard {
namespace {

template <class R>
std::vector<RegisteredInfo> registered_in() {
  std::vector<RegisteredInfo> out;
  for (const std::string& name : R::names()) {
    const auto& info = R::info(name);
    out.push_back({name, info.about, info.source, info.settings()});
  }
  return out;
}

}  // namespace

std::vector<RegisteredInfo> registered_learners() { return registered_in<LearnerRegistry>(); }
std::vector<RegisteredInfo> registered_networks() { return registered_in<NetworkRegistry>(); }

void check_training(const TrainConfig& config, const Settings& learner, const Settings& network,
                    int ranks) {
  NetworkRegistry::make(config.network, network);
  config.check(ranks, LearnerRegistry::make(config.learner, learner)->requirements().groups);
}

}  // namespace yard
