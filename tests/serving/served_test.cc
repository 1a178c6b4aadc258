// Checks that serving decides as in process. At every event of random workloads, each servable
// policy gets the state as a message. It must answer as if it had seen all earlier events.
#include <gtest/gtest.h>

#include "policies/learned/open_policy.h"
#include "serving/snapshot/export.h"
#include "serving/snapshot/run_policy.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

// A heuristic that ranks by history ranks a job once, when it begins to wait. A snapshot has only
// the latest history. Both agree as long as no job has finished since.
bool ranks_are_current(const View& view, const std::vector<EndedJob>& finished) {
  for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
    if (!finished.empty() && finished.back().end_us > view.since_us(slot)) return false;
  }
  return true;
}

// Policies that learn from the order in which jobs passed each age. A snapshot has less: which jobs
// have finished, which go on, and for how long. Most of these policies' answers are the same.
bool learns_in_order(const std::string& name) {
  return name == "gittins" || name.starts_with("survival") || name == "joint";
}

struct Answers {
  int64_t acted = 0, same = 0, other = 0;
};

void expect_same(const Policy& policy, const std::string& name, const std::string& cluster,
                 uint64_t seed, bool ranks_by_history, bool learns, Answers& answers) {
  const ClusterSpec spec = load_cluster(cluster);
  std::vector<Job> jobs = random_jobs(Rng{seed}, {.count = 80, .mean_gap_s = 60});
  Rng rng = Rng{seed}.split(1);
  for (Job& job : jobs) job.limit_us = job.run_us + kSecond * (1 + rng.below(1000));
  const Scene scene(cluster, jobs);
  SceneRunner runner(scene, policy);
  std::vector<EndedJob> finished;
  while (runner.advance()) {
    const SimState& s = runner.state();
    for (int32_t i = 0; i < s.head->num_changed; ++i) {
      const int32_t slot = s.changed[i];
      if (s.phase[slot] != Phase::kDone) continue;
      finished.push_back({s.job[slot], s.head->now_us, runner.view().attained_us(slot)});
    }
    const pb::DecideRequest request =
        to_request(spec, scene.jobs(), scene.fixed(), runner.state(), finished);
    const bool comparable = !ranks_by_history || ranks_are_current(runner.view(), finished);
    ASSERT_TRUE(runner.decide()) << name;
    const PolicyResult answer = run_policy(policy, Snapshot(request), request);
    ASSERT_EQ(answer.reason, pb::NONE) << name << ": " << answer.detail;
    if (!comparable) continue;
    const std::string answered = lines_of(answer.response);
    const std::string decided = lines_of(response_of(runner, scene, spec));
    if (!learns) {
      ASSERT_EQ(answered, decided)
          << name << " on " << cluster << ", seed " << seed << ", event " << runner.events();
    }
    (answered == decided ? answers.same : answers.other) += 1;
    answers.acted += answer.response.actions_size();
  }
}

// Policies with queues that depend on when a job entered them, which is not in a snapshot. Their
// answers are valid, and mostly the same.
bool keeps_queues(const std::string& name) { return name == "las" || name.starts_with("tiresias"); }

TEST(Served, EqualsInProcessForEveryServablePolicy) {
  for (const std::string& name : PolicyRegistry::names()) {
    if (name.starts_with("test-") || !PolicyRegistry::info(name).servable) continue;
    const auto policy = PolicyRegistry::make(name, {});
    const bool ranks_by_history =
        PolicyRegistry::info(name).level == Level::kHistory || learns_in_order(name);
    const bool differs = learns_in_order(name) || keeps_queues(name);
    Answers answers;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      expect_same(*policy, name, "2x8", seed, ranks_by_history, differs, answers);
      expect_same(*policy, name, "3x4:k80+2x8:v100", seed, ranks_by_history, differs, answers);
    }
    EXPECT_GT(answers.acted, ranks_by_history ? 50 : 400) << name;
    EXPECT_GE(answers.same, (keeps_queues(name) ? 1 : 9) * answers.other)
        << name << ": " << answers.same << " the same, " << answers.other << " others";
  }
}

TEST(Served, EqualsInProcessForATrainedPolicy) {
  const TempFolder temp;
  write_checkpoint(temp.path() / "pilot", 1);
  const OpenedPolicy pilot = open_policy("checkpoint:" + (temp.path() / "pilot").string(), {});
  Answers answers;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    expect_same(*pilot.policy, "pilot", "2x8", seed, false, false, answers);
  }
  EXPECT_GT(answers.acted, 200);
}

// Every shipped checkpoint answers every snapshot of a play by itself. A snapshot has only a part
// of what most of them learn over time; most answers are the same.
TEST(Served, EveryShippedCheckpointAnswers) {
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator("checkpoints")) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    const OpenedPolicy shipped = open_policy("checkpoint:" + entry.path().string(), {});
    Answers answers;
    expect_same(*shipped.policy, name, "2x8", 1, false, true, answers);
    EXPECT_GE(answers.acted, 76) << name;
    EXPECT_GE(answers.same, 2 * answers.other)
        << name << ": " << answers.same << " the same, " << answers.other << " others";
    ++checked;
  }
  EXPECT_GE(checked, 32);
}

}  // namespace
}  // namespace yard::testing
