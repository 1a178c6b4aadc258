// Which tenant and which user a job counts against, where policies share GPUs among them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/view.h"

namespace yard {

// Tree: tenants where the cluster names them, and users within each; or users alone, or tenants
// alone. A job without a name is its own user.
enum class Owners : uint8_t { kTree, kUser, kTenant };

inline std::vector<std::string> owners_names() { return {"tree", "user", "tenant"}; }

// Requires: one of owners_names().
inline Owners parse_owners(const std::string& name) {
  return name == "user" ? Owners::kUser : name == "tenant" ? Owners::kTenant : Owners::kTree;
}

inline bool by_tenant(const View& view, Owners owners) {
  return owners != Owners::kUser && view.num_tenants() > 0;
}

// Returns kNone where the job counts against no tenant.
inline int32_t owning_tenant(const View& view, Owners owners, int32_t slot) {
  return by_tenant(view, owners) ? view.tenant(slot) : kNone;
}

// A number of its own for each user within a tenant; negative for jobs that are their own user.
inline int32_t owning_user(const View& view, Owners owners, int32_t slot) {
  if (owners == Owners::kTenant && view.tenant(slot) != kNone) return 0;
  if (owners == Owners::kTenant || view.user(slot) == kNone) return -2 - view.serial(slot);
  return view.user(slot);
}

}  // namespace yard
