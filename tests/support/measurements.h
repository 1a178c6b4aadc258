// Files of measurements for test jobs, so that rule sets which read such files can play any scene.
// Alone on its GPUs, on any placement, each job takes its run time.
//
//   std::vector<Job> jobs = with_work(jobs_of({{0, 4, 100}}));
//   const Settings settings = measurements_for(RuleSetRegistry::info("gavel").needs, jobs, 8);
#pragma once

#include <string>
#include <vector>

#include "env/base/config/settings.h"
#include "env/trace/core/job.h"

namespace yard::testing {

// Returns the jobs with a model, and with one iteration per millisecond of run time.
std::vector<Job> with_work(std::vector<Job> jobs);

// Returns one setting per need, which names a file written for it: "rates" (Pollux), "throughputs"
// (Gavel; type "v100"). `node_gpus`: the largest node's GPUs. An unknown need fails the test.
// Requires: run times are whole seconds above 0.
Settings measurements_for(const std::vector<std::string>& needs, const std::vector<Job>& jobs,
                          int node_gpus);

// Returns all splits of `gpus` over nodes of up to `max_piece` GPUs, fullest first: "4+2", "4+1+1",
// ...
std::vector<std::string> placements_of(int gpus, int max_piece);

// Writes `text` to a temporary file, which is removed when the program exits. Returns its path.
std::string written(const std::string& name, const std::string& text);

}  // namespace yard::testing
