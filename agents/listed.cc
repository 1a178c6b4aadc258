#include "agents/listed.h"

#include "agents/learner.h"

namespace yard {
namespace {

template <class R>
std::vector<Listed> listed() {
  std::vector<Listed> out;
  for (const std::string& name : R::names()) {
    const auto& info = R::info(name);
    out.push_back({name, info.about, info.source, info.settings()});
  }
  return out;
}

}  // namespace

std::vector<Listed> listed_learners() { return listed<LearnerRegistry>(); }
std::vector<Listed> listed_networks() { return listed<NetworkRegistry>(); }

void check_training(const TrainConfig& config, const Settings& learner, const Settings& network,
                    int ranks) {
  NetworkRegistry::make(config.network, network);
  config.check(ranks, LearnerRegistry::make(config.learner, learner)->wants().groups);
}

}  // namespace yard
