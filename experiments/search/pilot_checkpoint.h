// Makes the checkpoint of a pilot without a network, with settings found for the policy `joint`.
#pragma once

#include <string>

#include "env/base/config/settings.h"
#include "policies/learned/checkpoint.h"

namespace yard {

// `file`: a policy file of `joint`, as `evolve` writes it. `set`: settings which override those of
// the file. The provenance holds the file's settings, the overrides and the outcome of the golden
// workload. Reads the cost of the search from FILE.search.json next to `file`, if it exists. Throws
// InputError for settings which `joint` does not have.
Checkpoint checkpoint_from_policy_file(const std::string& file, const Settings& set = {});

}  // namespace yard
