// The pilot as a policy: without a network it is `joint`, a network adds logits, and a site's
// settings forbid actions.
#include <gtest/gtest.h>

#include "env/base/core/error.h"
#include "policies/learned/learned_policy.h"
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

// Settings of the rule that differ from the defaults.
Settings some_settings(const std::vector<std::string>& more = {}) {
  Settings out;
  for (const char* assignment :
       {"margin_log2=0.6", "type_price=0.7", "hold_by_length=0.4", "gittins=0.5"}) {
    out.overlay(assignment, "test");
  }
  for (const std::string& assignment : more) out.overlay(assignment, "test");
  return out;
}

// `scale`: of random weights; 0 gives zero logits.
Checkpoint pilot(const Settings& settings, const std::string& network, float scale = 0,
                 uint64_t seed = 1) {
  Checkpoint out = expert_checkpoint("pilot", settings);
  out.network = network;
  if (network == "none") return out;
  Rng rng(seed);
  for (const auto& [name, shape] : job_scorer_shapes(8, make_agent("pilot", {})->shape())) {
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
  const auto joint = PolicyRegistry::make("joint", some_settings());
  const auto rule = policy_of(pilot(some_settings(), "none"), "test");
  const auto silent = policy_of(pilot(some_settings(), "job-scorer"), "test");
  const auto loud = policy_of(pilot(some_settings(), "job-scorer", 1), "test");
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
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const Settings settings = some_settings({seed % 2 == 0 ? "temperature=0" : "temperature=1"});
    const auto wild = policy_of(pilot(settings, "job-scorer", 3, seed), "test");
    const ForkableScene scene(rated_world(seed));
    play(scene, *wild);
  }
}

TEST(Pilot, SamplingIsReproducible) {
  const auto best = policy_of(pilot(some_settings(), "job-scorer", 0.3F), "test");
  const auto drawn = policy_of(pilot(some_settings({"temperature=2"}), "job-scorer", 0.3F), "test");
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
  const Checkpoint checkpoint = pilot(some_settings(), "none");
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
  const Settings stiff = some_settings({"preempt=false", "move=false"});
  const ForkableScene scene(rated_world(1));
  EXPECT_EQ(play(scene, *policy_of(pilot(stiff, "none"), "test", allowed)).preemptions, 0);
  forbidden.overlay("luck=true", "test");
  EXPECT_THROW(policy_of(checkpoint, "test", forbidden), InputError);
}

// The Gittins index assumes that jobs which turn out to be long can be preempted.
TEST(Pilot, WithoutPreemptionUsesTheMeanTimeLeft) {
  const Settings by_mean = some_settings({"gittins=0"});
  Settings forbidden;
  forbidden.overlay("preempt=false", "test");
  int other = 0;
  for (uint64_t trial = 0; trial < 8; ++trial) {
    const ForkableScene scene(rated_world(trial));
    const auto played = [&](const Settings& settings, const Settings& site) {
      return play(scene, *policy_of(pilot(settings, "none"), "test", site));
    };
    EXPECT_EQ(played(some_settings(), forbidden), played(by_mean, forbidden)) << trial;
    other += played(some_settings(), {}) != played(by_mean, {});
  }
  EXPECT_GT(other, 0);
}

TEST(Pilot, RoundTrips) {
  const Scratch scratch;
  const auto folder = scratch.path() / "pilot";
  for (const char* network : {"none", "job-scorer"}) {
    save_checkpoint(pilot(some_settings(), network, 0.1F), folder);
    EXPECT_EQ(agent_of(load_checkpoint(folder))->settings(),
              make_agent("pilot", some_settings())->settings());
    const OpenedPolicy opened = open_policy("checkpoint:" + folder.string(), {});
    EXPECT_EQ(opened.name, "pilot");
    EXPECT_TRUE(opened.info.preemptive);
  }
}

TEST(Pilot, RejectsInvalidCheckpoints) {
  Checkpoint wrong = pilot(some_settings(), "none");
  wrong.task["gittins"] = "2";
  EXPECT_THROW(policy_of(wrong, "test"), InputError);
  wrong = pilot(some_settings(), "none");
  wrong.task["luck"] = "2";
  EXPECT_THROW(policy_of(wrong, "test"), InputError);
  wrong = pilot(some_settings(), "none");
  wrong.task["gittins"] = nlohmann::ordered_json::array();
  EXPECT_THROW(policy_of(wrong, "test"), InputError);
  wrong = pilot(some_settings(), "job-scorer");
  wrong.weights["w2"].shape = {8, 7};
  EXPECT_THROW(policy_of(wrong, "test"), InputError);
}

}  // namespace
}  // namespace yard::testing
