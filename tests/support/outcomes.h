// Outcomes of a few jobs under a policy. The policy's text is as for make_policy().
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/scene.h"

namespace yard::testing {

inline std::vector<JobOutcome> outcomes(const std::string& policy, const std::string& cluster,
                                        const std::vector<Job>& jobs,
                                        const PreemptionCosts& costs = {}) {
  const Scene scene(cluster, jobs, costs);
  const auto scheduler = make_policy(policy);
  SceneRunner runner(scene, *scheduler);
  runner.play();
  EXPECT_FALSE(runner.failed());
  return runner.jobs();
}

}  // namespace yard::testing
