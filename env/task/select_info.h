// Describes the device task `select` (select.h) for `list agents` and the C interface.
#pragma once

#include <vector>

#include "env/task/agent.h"
#include "env/task/select.h"

namespace yard {

inline constexpr const char* kSelectName = "select";

const Agent::Info& job_selection_info();
JobSelectionConfig job_selection_config(const Settings& settings);  // throws InputError

std::vector<Feature> job_selection_action_features();
std::vector<Feature> job_selection_state_features();

}  // namespace yard
