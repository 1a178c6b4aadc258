#include "env/base/config/policy_file.h"

#include <string_view>

#include "env/base/core/error.h"

namespace yard {

PolicyFile read_policy_file(const std::string& file, const std::string& policy) {
  constexpr std::string_view kSettings = "settings.";
  const Settings all = Settings::from_yaml(file);
  const Setting* name = all.find("policy");
  if (name == nullptr) throw InputError(file, "a key `policy`", "none");
  PolicyFile out{name->value, {}};
  if (!policy.empty() && out.policy != policy) {
    throw InputError(file, "a file of the policy '" + policy + "'", "'" + out.policy + "'");
  }
  for (const Setting& s : all.entries()) {
    if (!s.key.starts_with(kSettings)) continue;
    out.settings.set(s.key.substr(kSettings.size()), s.value, s.origin);
  }
  return out;
}

}  // namespace yard
