// Recorded decisions as environments: each step shows the next observation with the recorded action
// as the expert's. Actions passed to step() are ignored. For learners in which the expert acts.
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
