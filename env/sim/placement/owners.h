// Finds the tenant and the user that a job is charged to, for policies with fair sharing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/view/view.h"

namespace yard {

// Owners among which GPUs are shared: users only, tenants only, or (kTree) tenants, if the cluster
// names them, and the users of each tenant. A job without a user counts as a user of its own.
enum class FairShareAmong : uint8_t { kTree, kUser, kTenant };

inline std::vector<std::string> fair_share_among_names() { return {"tree", "user", "tenant"}; }

// Requires: `name` is one of fair_share_among_names().
inline FairShareAmong parse_fair_share_among(const std::string& name) {
  return name == "user"     ? FairShareAmong::kUser
         : name == "tenant" ? FairShareAmong::kTenant
                            : FairShareAmong::kTree;
}

inline bool charges_tenants(const View& view, FairShareAmong owners) {
  return owners != FairShareAmong::kUser && view.num_tenants() > 0;
}

// Returns kNone if the job is charged to no tenant.
inline int32_t charged_tenant(const View& view, FairShareAmong owners, int32_t slot) {
  return charges_tenants(view, owners) ? view.tenant(slot) : kNone;
}

// Returns the number of the job's user within the tenant; negative for a job without a user.
inline int32_t charged_user(const View& view, FairShareAmong owners, int32_t slot) {
  if (owners == FairShareAmong::kTenant && view.tenant(slot) != kNone) return 0;
  if (owners == FairShareAmong::kTenant || view.user(slot) == kNone) return -2 - view.serial(slot);
  return view.user(slot);
}

}  // namespace yard
