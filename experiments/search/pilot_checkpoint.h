// Makes the checkpoint of a pilot without a network: the settings which a search found for `joint`.
#pragma once

#include <string>

#include "env/base/config/settings.h"
#include "policies/learned/checkpoint.h"

namespace yard {

// `file`: a policy file of `joint`, as `evolve` writes it. `set`: settings which override the
// file's. The provenance holds the file's own, the overrides and the outcome of the golden course.
// Reads the cost of the search from F.search.json if that file lies beside `file`. Throws
// InputError for settings which `joint` does not have.
Checkpoint checkpoint_from_policy_file(const std::string& file, const Settings& set = {});

}  // namespace yard
