// Which fields of a snapshot a policy cannot do without.
#pragma once

#include <string>
#include <vector>

#include "serving/snapshot/messages.h"

namespace yard {

// The fields that a policy may require: "job.user", "job.limit_s", "job.model" and "job.dues".
const std::vector<std::string>& requirable_fields();

// Returns the first of `fields` that no job of the request has, or "". A snapshot without jobs
// lacks nothing: there is nothing to decide.
std::string missing_field(const std::vector<std::string>& fields, const pb::DecideRequest& request);

}  // namespace yard
