// Files of measurements for jobs of tests, so that rule sets that go by such files can play any
// scene: alone on its GPUs, wherever they are, every job takes its run time.
//
//   std::vector<Job> jobs = with_work(jobs_of({{0, 4, 100}}));
//   const Settings settings = measurements_for(RuleSetRegistry::info("gavel").needs, jobs, 8);
#pragma once

#include <string>
#include <vector>

#include "env/base/config/settings.h"
#include "env/trace/core/job.h"

namespace yard::testing {

// The same jobs with a model and as many iterations as milliseconds of run time.
std::vector<Job> with_work(std::vector<Job> jobs);

// Returns a setting for each need, naming a file of its own: "rates" (Pollux), "throughputs"
// (Gavel; of type "v100"). `node_gpus`: the most that a node has. Fails the test for a need that it
// does not know. Requires: whole seconds of run time, above 0.
Settings measurements_for(const std::vector<std::string>& needs, const std::vector<Job>& jobs,
                          int node_gpus);

// Returns all ways to take `gpus` from nodes of up to `most`, the fullest first: "4+2", "4+1+1",
// ...
std::vector<std::string> placements_of(int gpus, int most);

// Writes `text` to a file of the program's own, which goes away with it, and returns its path.
std::string written(const std::string& name, const std::string& text);

}  // namespace yard::testing
