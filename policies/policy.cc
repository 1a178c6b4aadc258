#include "policies/policy.h"

#include <algorithm>
#include <array>

#include "env/base/text/nearest_name.h"

namespace yard {
namespace {

constexpr std::array<const char*, 6> kLevelNames = {"blind",    "history",      "distribution",
                                                    "estimate", "noisy-oracle", "oracle"};

}  // namespace

const char* information_level_name(InformationLevel level) {
  return kLevelNames[static_cast<size_t>(level)];
}

InformationLevel parse_information_level(const std::string& name) {
  const auto* it = std::ranges::find(kLevelNames, name);
  if (it != kLevelNames.end()) return static_cast<InformationLevel>(it - kLevelNames.begin());
  throw InputError("level of information",
                   "one of: " + join({kLevelNames.begin(), kLevelNames.end()}), "'" + name + "'");
}

std::string suggest_policies_for_term(std::string_view term) {
  if (!normalised_name(term).starts_with("backfill")) return "";
  return "; policies that backfill: `easy` (reserves for the first waiting job, nearest to Slurm), "
         "`conservative` (for each waiting job), `greedy` (for none)";
}

void require_policy(const std::string& where, std::string_view name) {
  if (PolicyRegistry::has(name)) return;
  throw unknown_name(where, PolicyRegistry::names(), name, suggest_policies_for_term(name));
}

void PolicyDecider::decide(const View& view, Draft& draft) {
  if (!ready_) {
    memory_.reset(policy_->memory_bytes(view));
    ready_ = true;
  }
  policy_->decide(view, memory_, draft);
}

}  // namespace yard
