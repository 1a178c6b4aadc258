// Elastic jobs, and what a policy makes of them at once.
#pragma once

#include <string>
#include <vector>

#include "tests/support/scene.h"

namespace yard::testing {

// A job of `asked` tasks with a GPU each, where `least` to `most` will do. Twice the tasks do twice
// the work: with `asked` it runs for `run_s`, which is its limit, too.
Job job_of_tasks(const std::string& id, double submit_s, int asked, int least, int most,
                 double run_s);

// (N) The tasks that each job holds after the first decision.
std::vector<int> first_sizes(const Scene& scene, const std::string& policy);

}  // namespace yard::testing
