#include "tests/support/elastic_jobs.h"

namespace yard::testing {

Job job_of_tasks(const std::string& id, double submit_s, int asked, int least, int most,
                 double run_s) {
  Job job = jobs_of({{submit_s, asked, run_s}})[0];
  job.id = id;
  RoleGroup group;
  group.count = asked;
  group.min_count = least;
  group.max_count = most;
  group.task.gpus = 1;
  job.groups = {group};
  job.limit_us = job.run_us;
  return job;
}

std::vector<int> first_sizes(const Scene& scene, const std::string& policy) {
  const auto scheduler = make_policy(policy);
  Player player(scene, *scheduler);
  EXPECT_TRUE(player.advance());
  EXPECT_TRUE(player.decide());
  std::vector<int> out(static_cast<size_t>(scene.size()), 0);
  for (int32_t i = 0; i < player.view().num_held(); ++i) {
    const int32_t slot = player.view().held(i);
    out[static_cast<size_t>(player.view().serial(slot))] = player.view().held_tasks(slot, 0);
  }
  return out;
}

}  // namespace yard::testing
