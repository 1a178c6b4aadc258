// The checkpoint of a pilot that is a rule alone: the numbers that a search has found for `joint`.
#pragma once

#include "env/base/settings.h"
#include "policies/learned/checkpoint.h"

namespace yard {

// Throws InputError for settings that `joint` does not have.
Checkpoint pilot_checkpoint(const Settings& rule, nlohmann::ordered_json provenance);

}  // namespace yard
