#include "tests/support/elastic_jobs.h"

namespace yard::testing {

Job job_of_tasks(const std::string& id, double submit_s, int requested_tasks, int min_tasks,
                 int max_tasks, double run_s) {
  Job job = jobs_of({{submit_s, requested_tasks, run_s}})[0];
  job.id = id;
  RoleGroup group;
  group.count = requested_tasks;
  group.min_count = min_tasks;
  group.max_count = max_tasks;
  group.task.gpus = 1;
  job.groups = {group};
  job.limit_us = job.run_us;
  return job;
}

std::vector<int> first_sizes(const Scene& scene, const std::string& policy) {
  const auto scheduler = make_policy(policy);
  SceneRunner runner(scene, *scheduler);
  EXPECT_TRUE(runner.advance());
  EXPECT_TRUE(runner.decide());
  std::vector<int> out(static_cast<size_t>(scene.size()), 0);
  for (int32_t i = 0; i < runner.view().num_holders(); ++i) {
    const int32_t slot = runner.view().holder_slot(i);
    out[static_cast<size_t>(runner.view().serial(slot))] = runner.view().held_tasks(slot, 0);
  }
  return out;
}

}  // namespace yard::testing
