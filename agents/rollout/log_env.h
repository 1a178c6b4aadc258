// Environments that replay recorded decisions. The recorded actions are the expert's actions, and
// step() ignores the actions given to it.
#pragma once

#include <memory>

#include "agents/rollout/vector_env.h"
#include "policies/learned/recorded_choices.h"

namespace yard {

// An episode has options.episode_jobs consecutive steps of the log. The environments play
// successive episodes. Each further pass over the log starts at another random offset. Requires:
// `choices` has a step and outlives the environments; there is one rank.
std::unique_ptr<VectorEnv> make_log_env(const RecordedChoices& choices,
                                        const VectorEnvOptions& options);

}  // namespace yard
