// Checks environments that replay recorded decisions: every step is shown once and in order, and a
// restored environment continues with the next step.
#include "agents/rollout/log_env.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "env/base/core/error.h"

namespace yard::testing {
namespace {

// `n` steps of 1 to 3 rows. The cluster feature is the step's number.
RecordedChoices steps_of(int n) {
  RecordedChoices out;
  out.shape = {.rows = 4, .row_features = 2, .cluster_features = 1};
  for (int i = 0; i < n; ++i) {
    const int rows = 1 + i % 3;
    out.rows.push_back(rows);
    for (int k = 0; k < rows * 2; ++k) out.jobs.push_back(static_cast<float>(100 * i + k));
    out.cluster.push_back(static_cast<float>(i));
    for (int k = 0; k <= rows; ++k) out.prior.push_back(k == 0 ? kMaskedLogit : 0.5F);
    out.action.push_back(rows);
    if (rows > 1) out.action.back() = i % 2 == 0 ? 1 : rows;
    out.decision.push_back(i);
    out.time_s.push_back(static_cast<float>(10 * i));
    out.probability.push_back(1);
  }
  return out;
}

VectorEnvOptions options_of(int worlds, int length) {
  VectorEnvOptions o;
  o.worlds = worlds;
  o.episode_jobs = length;
  o.wait_at_end = true;
  return o;
}

// The numbers of the steps that are shown until all worlds are done.
std::vector<int> played(VectorEnv& worlds) {
  std::vector<int> out;
  const std::vector<int32_t> nothing(static_cast<size_t>(worlds.count()), 4);
  for (;;) {
    bool any = false;
    for (int n = 0; n < worlds.count(); ++n) {
      if (worlds.is_done(n)) continue;
      any = true;
      out.push_back(static_cast<int>(worlds.observations().cluster[static_cast<size_t>(n)]));
    }
    if (!any) return out;
    worlds.step(nothing);
  }
}

TEST(LogVectorEnv, ReplaysRecordedObservationsAndActions) {
  const RecordedChoices steps = steps_of(7);
  const auto worlds = make_log_env(steps, options_of(1, 7));
  worlds->reset();
  const std::vector<int32_t> nothing = {4};
  for (int i = 0; i < 7; ++i, worlds->step(nothing)) {
    ASSERT_FALSE(worlds->is_done(0));
    const Observations seen = worlds->observations();
    const auto rows = static_cast<size_t>(steps.rows[static_cast<size_t>(i)]);
    EXPECT_EQ(seen.rows[0], static_cast<int32_t>(rows));
    EXPECT_EQ(seen.jobs[2 * rows - 1],
              static_cast<float>(100 * i) + 2.0F * static_cast<float>(rows) - 1);
    EXPECT_EQ(seen.mask[0], 0);
    for (size_t a = 1; a < 5; ++a) EXPECT_EQ(seen.mask[a], a < rows || a == 4) << a;
    EXPECT_EQ(seen.prior[4], 0.5F);
    const int32_t done = steps.action[static_cast<size_t>(i)];
    EXPECT_EQ(seen.expert_action[0], done == steps.rows[static_cast<size_t>(i)] ? 4 : done);
    EXPECT_EQ(worlds->elapsed_s(0), 10 * i);
  }
  EXPECT_TRUE(worlds->is_done(0));
  EXPECT_EQ(worlds->observations().ending[0], Ending::kTerminated);
}

TEST(LogVectorEnv, OnePassShowsEveryStep) {
  const RecordedChoices steps = steps_of(60);
  const auto worlds = make_log_env(steps, options_of(3, 10));
  worlds->reset();
  std::map<int, int> shown;
  for (int episode = 0; episode < 2; ++episode) {
    for (const int i : played(*worlds)) ++shown[i];
    worlds->begin_next_episodes();
  }
  EXPECT_EQ(shown.size(), 60u);
  EXPECT_TRUE(std::ranges::all_of(shown, [](const auto& one) { return one.second == 1; }));
}

TEST(LogVectorEnv, SavedWorldResumes) {
  const RecordedChoices steps = steps_of(50);
  const auto worlds = make_log_env(steps, options_of(2, 12));
  worlds->reset();
  for (int episode = 0; episode < 5; ++episode) {
    played(*worlds);
    worlds->begin_next_episodes();
  }
  worlds->step(std::vector<int32_t>{4, 4});
  const std::string saved = worlds->save();
  const auto again = make_log_env(steps, options_of(2, 12));
  again->restore(saved);
  EXPECT_EQ(again->save(), saved);
  EXPECT_EQ(played(*again), played(*worlds));
  again->begin_next_episodes();
  worlds->begin_next_episodes();
  EXPECT_EQ(played(*again), played(*worlds));
  EXPECT_THROW(again->restore(saved.substr(1)), InputError);
  const RecordedChoices others = steps_of(51);
  EXPECT_THROW(make_log_env(others, options_of(2, 12))->restore(saved), InputError);
}

}  // namespace
}  // namespace yard::testing
