// The agent `dispatcher` in tests: its dimensions, the order of its features, and its settings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/task/agent.h"

namespace yard::testing::dispatcher {

constexpr int kJobs = 128, kActions = kJobs + 1, kNothing = kJobs;
constexpr ObservationShape kShape{kJobs, 8, 8};
constexpr int kJobFeatures = kShape.row_features, kClusterFeatures = kShape.cluster_features;

enum JobFeature { kHolds, kGpus, kAge, kAttained, kLeft, kSiblings, kKnown, kExpertAction };

// Returns "key=value" settings, with as many rows as possible unless they are given.
inline Settings settings(const std::vector<std::string>& assignments = {}) {
  Settings out;
  out.overlay("held_rows=64", "test");
  out.overlay("waiting_rows=128", "test");
  for (const std::string& assignment : assignments) out.overlay(assignment, "test");
  return out;
}

inline std::shared_ptr<const Agent> agent(const std::vector<std::string>& assignments = {}) {
  return make_agent("dispatcher", settings(assignments));
}

}  // namespace yard::testing::dispatcher
