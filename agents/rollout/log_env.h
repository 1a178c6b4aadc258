// Environments that replay recorded decisions: the recorded action is the expert's. step() ignores
// its actions.
#pragma once

#include <memory>

#include "agents/rollout/vector_env.h"
#include "policies/learned/recorded_choices.h"

namespace yard {

// An episode has options.episode_jobs consecutive steps. The environments take successive episodes;
// each further pass over the log starts at another random offset.
// Requires: `choices` outlives the worlds and has a step; one rank.
std::unique_ptr<VectorEnv> make_log_env(const RecordedChoices& choices,
                                        const VectorEnvOptions& options);

}  // namespace yard
