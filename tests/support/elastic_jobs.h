// Elastic jobs, and the sizes which a policy gives them in its first decision.
#pragma once

#include <string>
#include <vector>

#include "tests/support/scene.h"

namespace yard::testing {

// Returns a job of `requested_tasks` tasks with a GPU each, which runs on `min_tasks` to
// `max_tasks` of them. Throughput is proportional to tasks: with `requested_tasks` it runs for
// `run_s`, which is also its limit.
Job job_of_tasks(const std::string& id, double submit_s, int requested_tasks, int min_tasks,
                 int max_tasks, double run_s);

// Returns the tasks which each job holds after the first decision. Dims: (N).
std::vector<int> first_sizes(const Scene& scene, const std::string& policy);

}  // namespace yard::testing
