#include "policies/learned/open_policy.h"

#include <filesystem>

#include "env/base/config/settings.h"
#include "env/base/core/error.h"
#include "policies/learned/learned_policy.h"
#include "policies/learned/untrained.h"

namespace yard {
namespace {

constexpr std::string_view kCheckpoint = "checkpoint:";
constexpr std::string_view kUntrained = "untrained:";

OpenedPolicy open_checkpoint(const std::string& folder, bool trained, const Settings& settings) {
  Checkpoint checkpoint = load_checkpoint(folder);
  if (!trained) checkpoint = untrained_of(checkpoint);
  std::unique_ptr<Policy> policy = policy_of(checkpoint, folder, settings);
  return {std::move(policy),
          checkpoint.agent,
          policy_info(checkpoint),
          checkpoint.digest,
          checkpoint.envelope,
          checkpoint.core_s,
          trained ? std::string(kUntrained) + folder : std::string()};
}

OpenedPolicy open_tuned(const std::string& file, const Settings& settings) {
  PolicyFile tuned = read_policy_file(file);
  for (const GivenSetting& s : settings.entries()) tuned.settings.set(s.key, s.value, s.origin);
  return {PolicyRegistry::make(tuned.policy, tuned.settings), file,
          PolicyRegistry::info(tuned.policy)};
}

}  // namespace

OpenedPolicy open_policy(const std::string& text, const Settings& settings) {
  if (text.starts_with(kCheckpoint)) {
    return open_checkpoint(text.substr(kCheckpoint.size()), true, settings);
  }
  if (text.starts_with(kUntrained)) {
    return open_checkpoint(text.substr(kUntrained.size()), false, settings);
  }
  if (!PolicyRegistry::has(text) &&
      std::filesystem::exists(std::filesystem::path(text) / "manifest.json")) {
    throw InputError("policy", "checkpoint:" + text + " for a trained policy", "'" + text + "'");
  }
  if (text.ends_with(".yaml") || text.ends_with(".yml")) return open_tuned(text, settings);
  require_policy("policy", text);
  return {PolicyRegistry::make(text, settings), text, PolicyRegistry::info(text)};
}

}  // namespace yard
