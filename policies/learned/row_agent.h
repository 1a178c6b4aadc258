// Agents that are one class (env/task/row_task.h), for simulating and serving their checkpoints.
#pragma once

#include <memory>
#include <string>

#include "env/task/row_task.h"
#include "policies/learned/learned_agent.h"

namespace yard {

// Requires: RowTasks has the name.
std::unique_ptr<LearnedAgent> row_agent(const std::string& name);

// Returns what a checkpoint keeps of a task. row_agent()'s policy reads it back.
nlohmann::ordered_json row_task_json(const std::string& name, const RowTask& task);

}  // namespace yard
