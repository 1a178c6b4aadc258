#include "env/sim/rulesets/rule_set.h"

#include <algorithm>
#include <string_view>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

bool matches(std::string_view listed, const std::string& name) {
  if (listed.ends_with("-N")) {
    listed.remove_suffix(1);
    return name.size() > listed.size() && name.starts_with(listed);
  }
  return listed == name;
}

void check(const std::string& what, const std::string& rules,
           const std::vector<std::string>& listed, const std::string& name) {
  const bool known = std::any_of(listed.begin(), listed.end(),
                                 [&](const std::string& one) { return matches(one, name); });
  if (known) return;
  throw InputError(what + " under rules '" + rules + "'",
                   listed.empty() ? "none" : "one of: " + join(listed), "'" + name + "'");
}

}  // namespace

std::string placement_or_default(const std::string& rules, const std::string& policy,
                                 const std::string& placement) {
  const RuleSet::Info& info = RuleSetRegistry::info(rules);
  check("policy", rules, info.policies, policy);
  if (placement.empty()) return info.placements.empty() ? "" : info.placements.front();
  check("placement", rules, info.placements, placement);
  return placement;
}

}  // namespace yard
