#include "policies/learned/open_policy.h"

#include "env/base/error.h"
#include "policies/learned/checkpoint.h"
#include "policies/learned/pilot.h"

namespace yard {
namespace {

constexpr std::string_view kCheckpoint = "checkpoint:";
constexpr std::string_view kSettings = "settings.";

OpenedPolicy open_checkpoint(const std::string& folder, const Settings& settings) {
  parse<NoConfig>(settings);
  const Checkpoint checkpoint = load_checkpoint(folder);
  if (checkpoint.network != "job-scorer") {
    throw InputError(folder, "the network job-scorer", checkpoint.network);
  }
  return {make_pilot(checkpoint, folder),
          checkpoint.agent,
          {.about = "trained agent from " + folder,
           .source = "this project",
           .fidelity = "ours",
           .level = Level::kHistory,
           .servable = true,
           .preemptive = checkpoint.task.preempt},
          checkpoint.digest};
}

// policy: NAME, settings: {...}, and whatever provenance the tuner left.
OpenedPolicy open_tuned(const std::string& file, const Settings& settings) {
  const Settings all = Settings::from_yaml(file);
  const Setting* name = all.find("policy");
  if (name == nullptr) throw InputError(file, "a key `policy`", "none");
  Settings own;
  for (const Setting& s : all.entries()) {
    if (s.key.starts_with(kSettings)) own.set(s.key.substr(kSettings.size()), s.value, s.origin);
  }
  for (const Setting& s : settings.entries()) own.set(s.key, s.value, s.origin);
  return {PolicyRegistry::make(name->value, own), file, PolicyRegistry::info(name->value), ""};
}

}  // namespace

OpenedPolicy open_policy(const std::string& text, const Settings& settings) {
  if (text.starts_with(kCheckpoint)) {
    return open_checkpoint(text.substr(kCheckpoint.size()), settings);
  }
  if (text.ends_with(".yaml") || text.ends_with(".yml")) return open_tuned(text, settings);
  return {PolicyRegistry::make(text, settings), text, PolicyRegistry::info(text), ""};
}

}  // namespace yard
