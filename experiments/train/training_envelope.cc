#include "experiments/train/training_envelope.h"

#include <algorithm>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/text/json_flaw.h"
#include "experiments/train/simulated_data.h"
#include "policies/policy.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

// A search records its cells by their names in this file, a training its settings.
constexpr const char* kSearchCells = "experiments/cells.yaml";

struct TrainingWorkloads {
  TrainingDataConfig data;
  int episode_jobs = 0;
};

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) out.push_back(key);
  return out;
}

TrainingWorkloads workloads_of_search(const Json& provenance) {
  TrainingWorkloads out;
  out.data.cells = kSearchCells;
  out.data.only = keys_of(provenance.at("cells"));
  out.data.validate_on = keys_of(provenance.at("validation"));
  out.episode_jobs = std::stoi(provenance.at("episode_jobs").get<std::string>());
  return out;
}

TrainingWorkloads workloads_of_training(const Json& settings, const std::string& agent) {
  Settings known;
  for (const Field& field : describe<TrainingDataConfig>()) {
    if (!settings.contains(field.key)) continue;
    known.set(field.key, settings.at(field.key).get<std::string>(), "provenance");
  }
  TrainingWorkloads out;
  out.data = parse<TrainingDataConfig>(known);
  out.data.agent = agent;
  out.episode_jobs = std::stoi(settings.at("episode_jobs").get<std::string>());
  return out;
}

}  // namespace

Envelope training_envelope(const Checkpoint& checkpoint) {
  TrainingWorkloads of;
  try {
    const Json& provenance = checkpoint.provenance;
    of = provenance.contains("settings")
             ? workloads_of_training(provenance.at("settings"), checkpoint.agent)
             : workloads_of_search(provenance);
  } catch (const nlohmann::json::exception& error) {
    throw InputError("provenance", "the workloads of a training", json_error_text(error));
  }
  if (!of.data.from_log.empty()) {
    throw InputError("provenance", "a training on workloads", "one on a decision log");
  }
  // Validation is not played, but its windows need a policy to compare with.
  of.data.validate_windows = 1;
  of.data.draws = 1;
  const auto reference = PolicyRegistry::make("greedy", {});
  return SimulatedData(of.data, of.episode_jobs, *reference).envelope(checkpoint);
}

}  // namespace yard
