// A note for users: jobs name tenants that the cluster does not have. Such jobs come under no quota
// or limit of the cluster, so that a misspelt tenant would change results in silence.
#pragma once

#include <string>

#include "env/cluster/spec.h"
#include "env/trace/job.h"

namespace yard {

// Without a full stop. Empty if the cluster has no tenants, or all that jobs name.
std::string unknown_tenants_note(const Trace& trace, const ClusterSpec& cluster);

}  // namespace yard
