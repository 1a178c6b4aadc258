// The checkpoint of a pilot that is a rule alone: the numbers that a search has found for `joint`.
#pragma once

#include <string>

#include "env/base/settings.h"
#include "policies/learned/checkpoint.h"

namespace yard {

// `file`: a policy's file of `joint`, as `evolve` writes it; what it says of where it comes from
// becomes the provenance, with `set`, settings that take the place of the file's, and with what the
// rule does with the golden course; what the search took is read from its state, F.search.json,
// where that is still beside it. Throws InputError for settings that `joint` does not have.
Checkpoint pilot_checkpoint(const std::string& file, const Settings& set = {});

}  // namespace yard
