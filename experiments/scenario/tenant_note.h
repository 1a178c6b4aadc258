// Warns about jobs which name tenants that the cluster lacks. No quota or limit applies to them, so
// a misspelt tenant would silently change results.
#pragma once

#include <string>

#include "env/cluster/spec.h"
#include "env/trace/core/job.h"

namespace yard {

// Returns a note without a full stop. Empty if the cluster has no tenants, or all named ones.
std::string unknown_tenants_note(const Trace& trace, const ClusterSpec& cluster);

}  // namespace yard
