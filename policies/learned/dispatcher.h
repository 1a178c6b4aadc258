// A trained dispatcher as a policy: observes, scores and applies the best action, until the best is
// to do nothing more.
#pragma once

#include <memory>

#include "env/task/dispatch.h"
#include "policies/learned/learned_agent.h"

namespace yard {

// A checkpoint's `task` as JSON, and back. dispatch_from() throws InputError or JSON errors.
nlohmann::ordered_json dispatch_json(const DispatchConfig& task);
DispatchConfig dispatch_from(const nlohmann::ordered_json& json);

constexpr TaskShape kDispatchShape{Dispatch::kJobs, Dispatch::kJobFeatures,
                                   Dispatch::kClusterFeatures};

}  // namespace yard
