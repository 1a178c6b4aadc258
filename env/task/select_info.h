// The device task `select` (select.h) as `list agents` and the C interface show it, beside the
// agents. No network plays it here: its features and actions are for learners of one's own.
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
