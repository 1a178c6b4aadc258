// Describes the device task `select` (select.h) for `list agents` and the C interface.
#pragma once

#include <vector>

#include "env/task/agent.h"
#include "env/task/select.h"

namespace yard {

inline constexpr const char* kSelectName = "select";

const Agent::Info& select_info();
SelectConfig select_config(const Settings& settings);  // throws InputError

std::vector<Feature> select_action_features();
std::vector<Feature> select_state_features();

}  // namespace yard
