#include "env/task/select_info.h"

#include <algorithm>
#include <cmath>

namespace yard {
namespace {

struct Config {
  std::string placement = "first-fit";
  double tick_s = 300;

  void fields(FieldList& f) {
    f("placement", placement, {std::begin(kPlacementRuleNames), std::end(kPlacementRuleNames)},
      "placement rule");
    f("tick_s", tick_s, 1.0, 1e6, "seconds to the next decision if jobs wait and none runs");
  }
};

}  // namespace

const Agent::Info& job_selection_info() {
  static const Agent::Info info{
      .about = "chooses which of the first 128 waiting jobs starts next; also runs on a device",
      .source = "Zhang et al., RLScheduler, SC 2020",
      .fidelity = "the decision as published, with our features; no network of ours",
      .level = JobSelectionTask::kLevel,
      .servable = false,
      .settings = describe<Config>};
  return info;
}

JobSelectionConfig job_selection_config(const Settings& settings) {
  const auto config = parse<Config>(settings);
  const auto* const at = std::ranges::find(kPlacementRuleNames, config.placement);
  return {.placement = static_cast<PlacementRule>(at - std::begin(kPlacementRuleNames)),
          .tick_us = std::llround(config.tick_s * 1e6)};
}

std::vector<Feature> job_selection_action_features() {
  return {{"exists", "1: the row has a job"},
          {"gpus", "its GPUs over all GPUs"},
          {"limit", "log2 s of the user's limit, over 16; 0: none"},
          {"has_limit", "1: the user set a limit"},
          {"waited", "half days since submission"},
          {"left", "share of GPUs left free if it starts; negative: it does not fit"},
          {"pressure", "GPUs of all waiting jobs over all GPUs"},
          {"narrow", "(1 - share of all GPUs) squared: separates small from medium jobs"}};
}

std::vector<Feature> job_selection_state_features() {
  return {{"free", "share of GPUs free"},
          {"waiting", "log2 of 1 + waiting jobs, over 8"},
          {"held", "log2 of 1 + jobs that hold GPUs, over 8"},
          {"demand", "GPUs of waiting jobs over all GPUs"}};
}

}  // namespace yard
