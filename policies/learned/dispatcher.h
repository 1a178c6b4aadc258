// A trained dispatcher as a policy: observe, score, take the best action, until it wants nothing
// more.
#pragma once

#include <memory>

#include "env/task/dispatch.h"
#include "policies/learned/learned_agent.h"

namespace yard {

// A checkpoint's `task`, and back. Throws InputError, or what nlohmann's JSON throws.
nlohmann::ordered_json dispatch_json(const DispatchConfig& task);
DispatchConfig dispatch_from(const nlohmann::ordered_json& json);

constexpr TaskShape kDispatchShape{Dispatch::kJobs, Dispatch::kJobFeatures,
                                   Dispatch::kClusterFeatures};

}  // namespace yard
