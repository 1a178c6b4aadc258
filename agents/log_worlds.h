// Recorded decisions as worlds: they show what was seen, one step after the other, and suggest what
// was done; what is done here changes nothing. For learners that let the teacher act.
#pragma once

#include <memory>

#include "agents/worlds.h"
#include "policies/learned/recorded_choices.h"

namespace yard {

// An episode is as many steps as options.episode_jobs says, one after the other. The worlds'
// episodes go side by side through all steps, and begin elsewhere on every new way through.
// Requires: `choices` outlives the worlds and has a step; one rank.
std::unique_ptr<Worlds> make_log_worlds(const RecordedChoices& choices,
                                        const WorldsOptions& options);

}  // namespace yard
