// The pilot as a policy: without a network it is `joint`, a network adds logits, and a site's
// settings forbid actions.
#include "policies/learned/pilot.h"

#include <gtest/gtest.h>

#include "env/base/core/error.h"
#include "policies/learned/open_policy.h"
#include "tests/support/checkpoints.h"
#include "tests/support/futures.h"

namespace yard::testing {
namespace {

ForkableWorld rated_world(uint64_t trial) {
  ForkableWorld forkable =
      forkable_world(Rng(23).split(trial), {.models = true, .slowdowns = true});
  forkable.world.faults.clear();
  return forkable;
}

PilotTask some_task() {
  PilotTask task;
  task.rule.margin_log2 = 0.6;
  task.rule.type_price = 0.7;
  task.rule.hold_by_length = 0.4;
  task.rule.gittins = 0.5;
  return task;
}

// `scale`: of random weights; 0 gives zero logits.
Checkpoint pilot(const PilotTask& task, const std::string& network, float scale = 0,
                 uint64_t seed = 1) {
  Checkpoint out;
  out.agent = "pilot";
  out.network = network;
  out.task = pilot_json(task);
  if (network == "none") return out;
  Rng rng(seed);
  for (const auto& [name, shape] : job_scorer_shapes(8, JointTask::kShape)) {
    Tensor& t = out.weights[name];
    t.shape = shape;
    size_t count = 1;
    for (const int64_t n : shape) count *= static_cast<size_t>(n);
    for (size_t i = 0; i < count; ++i) {
      t.data.push_back(name.ends_with("scale") ? 1 : scale * static_cast<float>(rng.normal()));
    }
  }
  return out;
}

struct Played {
  int64_t total_us = 0;
  int32_t preemptions = 0;
  friend bool operator==(const Played&, const Played&) = default;
};

Played play(const ForkableScene& scene, const Policy& policy) {
  SceneRunner runner(scene.scene(), policy);
  runner.play();
  EXPECT_FALSE(runner.failed());
  Played out{total_jct_us(scene.scene(), runner.jobs()), 0};
  for (const JobOutcome& job : runner.jobs()) out.preemptions += job.preemptions;
  return out;
}

TEST(Pilot, RuleWithNoOrAZeroNetworkMatchesJoint) {
  Settings settings;
  for (const auto& [key, value] : record(some_task().rule)) settings.set(key, value, "test");
  const auto joint = PolicyRegistry::make("joint", settings);
  const auto rule = policy_of(pilot(some_task(), "none"), "test");
  const auto silent = policy_of(pilot(some_task(), "job-scorer"), "test");
  const auto loud = policy_of(pilot(some_task(), "job-scorer", 1), "test");
  int other = 0;
  for (uint64_t trial = 0; trial < 12; ++trial) {
    const ForkableScene scene(rated_world(trial));
    const Played expected = play(scene, *joint);
    EXPECT_EQ(play(scene, *rule), expected) << trial;
    EXPECT_EQ(play(scene, *silent), expected) << trial;
    other += play(scene, *loud) != expected;
  }
  EXPECT_GT(other, 6);
}

TEST(Pilot, ArbitraryWeightsTerminate) {
  PilotTask task = some_task();
  for (uint64_t seed = 0; seed < 12; ++seed) {
    task.temperature = seed % 2 == 0 ? 0 : 1;
    const auto wild = policy_of(pilot(task, "job-scorer", 3, seed), "test");
    const ForkableScene scene(rated_world(seed));
    play(scene, *wild);
  }
}

TEST(Pilot, SamplingIsReproducible) {
  PilotTask task = some_task();
  const auto best = policy_of(pilot(task, "job-scorer", 0.3F), "test");
  task.temperature = 2;
  const auto drawn = policy_of(pilot(task, "job-scorer", 0.3F), "test");
  int other = 0;
  for (uint64_t trial = 0; trial < 8; ++trial) {
    const ForkableScene scene(rated_world(trial));
    const Played one = play(scene, *drawn);
    EXPECT_EQ(play(scene, *drawn), one);
    other += play(scene, *best) != one;
  }
  EXPECT_GT(other, 4);
}

TEST(Pilot, SettingsCanForbidVerbs) {
  const Checkpoint checkpoint = pilot(some_task(), "none");
  Settings forbidden, allowed;
  forbidden.overlay("preempt=false", "test");
  forbidden.overlay("move=false", "test");
  allowed.overlay("preempt=true", "test");
  int32_t with = 0;
  for (uint64_t trial = 0; trial < 6; ++trial) {
    const ForkableScene scene(rated_world(trial));
    EXPECT_EQ(play(scene, *policy_of(checkpoint, "test", forbidden)).preemptions, 0);
    with += play(scene, *policy_of(checkpoint, "test", allowed)).preemptions;
  }
  EXPECT_GT(with, 0);
  PilotTask stiff = some_task();
  stiff.rule.preempt = stiff.rule.move = false;
  const ForkableScene scene(rated_world(1));
  EXPECT_EQ(play(scene, *policy_of(pilot(stiff, "none"), "test", allowed)).preemptions, 0);
  forbidden.overlay("luck=true", "test");
  EXPECT_THROW(policy_of(checkpoint, "test", forbidden), InputError);
}

// The Gittins index assumes that jobs which turn out to be long can be preempted.
TEST(Pilot, WithoutPreemptionUsesTheMeanTimeLeft) {
  PilotTask by_mean = some_task();
  by_mean.rule.gittins = 0;
  Settings forbidden;
  forbidden.overlay("preempt=false", "test");
  int other = 0;
  for (uint64_t trial = 0; trial < 8; ++trial) {
    const ForkableScene scene(rated_world(trial));
    const auto played = [&](const PilotTask& task, const Settings& site) {
      return play(scene, *policy_of(pilot(task, "none"), "test", site));
    };
    EXPECT_EQ(played(some_task(), forbidden), played(by_mean, forbidden)) << trial;
    other += played(some_task(), {}) != played(by_mean, {});
  }
  EXPECT_GT(other, 0);
}

TEST(Pilot, RoundTrips) {
  const Scratch scratch;
  const auto folder = scratch.path() / "pilot";
  for (const char* network : {"none", "job-scorer"}) {
    save_checkpoint(pilot(some_task(), network, 0.1F), folder);
    const PilotTask read = pilot_from(load_checkpoint(folder).task);
    EXPECT_EQ(record(read), record(some_task()));
    const OpenedPolicy opened = open_policy("checkpoint:" + folder.string(), {});
    EXPECT_EQ(opened.name, "pilot");
    EXPECT_TRUE(opened.info.preemptive);
  }
}

TEST(Pilot, RejectsInvalidCheckpoints) {
  Checkpoint wrong = pilot(some_task(), "none");
  wrong.task["gittins"] = "2";
  EXPECT_THROW(policy_of(wrong, "test"), InputError);
  wrong = pilot(some_task(), "none");
  wrong.task["luck"] = "2";
  EXPECT_THROW(policy_of(wrong, "test"), InputError);
  wrong = pilot(some_task(), "none");
  wrong.task["gittins"] = nlohmann::ordered_json::array();
  EXPECT_THROW(policy_of(wrong, "test"), InputError);
  wrong = pilot(some_task(), "job-scorer");
  wrong.weights["w2"].shape = {8, 7};
  EXPECT_THROW(policy_of(wrong, "test"), InputError);
}

}  // namespace
}  // namespace yard::testing
