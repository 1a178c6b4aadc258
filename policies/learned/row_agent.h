// Agents that are one class (env/task/row_task.h), to whoever plays or serves a checkpoint of one.
#pragma once

#include <memory>
#include <string>

#include "env/task/row_task.h"
#include "policies/learned/learned_agent.h"

namespace yard {

// Requires: RowTasks has the name.
std::unique_ptr<LearnedAgent> row_agent(const std::string& name);

// What a checkpoint keeps of a task, read back by row_agent()'s policy.
nlohmann::ordered_json row_task_json(const std::string& name, const RowTask& task);

}  // namespace yard
