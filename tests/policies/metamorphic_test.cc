// Transformations of a world that must not matter, or have a known effect: unit and origin of time,
// names, unlimited tenants, unusable nodes. A world forked at any event plays to the same end.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env/sim/rules/digest.h"
#include "tests/support/random_world.h"

namespace yard::testing {
namespace {

constexpr uint64_t kWorlds = 12;

RandomWorld world_of(uint64_t seed, const RandomWorldOptions& options) {
  RandomWorld world = random_world(Rng(seed), options);
  for (Fault& fault : world.faults) {  // so that no job waits forever
    fault.until_us = std::min(fault.until_us, fault.at_us + 10'000 * kSecond);
  }
  return world;
}

// All GPUs have speed 1, so that work is time and all sums are of integers.
RandomWorld even_world(uint64_t seed) {
  RandomWorld world = world_of(seed, {.jobs = 40});
  for (GpuType& type : world.cluster.types) type.speed = 1, type.speed_of_model.clear();
  return world;
}

std::vector<JobOutcome> play(const RandomWorld& world, const std::string& policy) {
  const std::unique_ptr<Scene> scene = scene_of(world);
  const auto scheduler = make_policy(policy);
  SceneRunner runner(*scene, *scheduler);
  runner.play();
  EXPECT_FALSE(runner.failed());
  return runner.jobs();
}

// Checks that all times of `other` are those of `one`, times `scale`, plus `shift_us`.
void expect_same(const std::vector<JobOutcome>& one, const std::vector<JobOutcome>& other,
                 int64_t scale = 1, int64_t shift_us = 0) {
  ASSERT_EQ(one.size(), other.size());
  for (size_t j = 0; j < one.size(); ++j) {
    SCOPED_TRACE("job " + std::to_string(j));
    ASSERT_EQ(other[j].start_us, scale * one[j].start_us + shift_us);
    ASSERT_EQ(other[j].end_us, scale * one[j].end_us + shift_us);
    ASSERT_EQ(other[j].preemptions, one[j].preemptions);
    ASSERT_EQ(other[j].restarts, one[j].restarts);
  }
}

class Metamorphic : public ::testing::TestWithParam<std::string> {
 protected:
  const std::string policy_ = GetParam();
};

// Some policies have constants in seconds: jobs of a user within ten minutes are a batch, and time
// bins and index updates have fixed lengths.
bool has_constants_in_seconds(const std::string& policy) {
  const std::vector<Field> fields = PolicyRegistry::info(policy).fields();
  return make_policy(policy)->min_information_level() == InformationLevel::kHistory ||
         std::any_of(fields.begin(), fields.end(),
                     [](const Field& f) { return f.key == "timer_s"; });
}

TEST_P(Metamorphic, TimeUnitDoesNotMatter) {
  if (has_constants_in_seconds(policy_)) return;
  // Limits divisible by all GPU counts, so that no queue change falls between two microseconds.
  const std::map<std::string, std::pair<std::string, std::string>> settings = {
      {"las",
       {" limit_1_gpu_s=2520 limit_2_gpu_s=7560", " limit_1_gpu_s=5040 limit_2_gpu_s=15120"}},
      {"tiresias",
       {" limit_1_gpu_s=2520 limit_2_gpu_s=7560", " limit_1_gpu_s=5040 limit_2_gpu_s=15120"}},
      {"gandiva", {" slice_s=600", " slice_s=1200"}},
      {"fair-share", {" hold_s=600", " hold_s=1200"}}};
  const auto own = settings.find(policy_);
  const auto [once, twice] =
      own == settings.end() ? std::pair<std::string, std::string>() : own->second;
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWorld world = even_world(seed);
    const auto before = play(world, policy_ + once);
    for (Job& job : world.jobs) {
      job.submit_us *= 2, job.run_us *= 2;
      if (job.save_us > 0) job.save_us *= 2;
      if (job.restore_us > 0) job.restore_us *= 2;
    }
    for (Fault& f : world.faults) f.at_us *= 2, f.until_us *= 2, f.notice_us *= 2;
    PreemptionCosts& c = world.costs;
    for (int64_t* us : {&c.save_us, &c.restore_us, &c.restore_large_us, &c.checkpoint_us}) *us *= 2;
    expect_same(before, play(world, policy_ + twice), 2);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Metamorphic, TimeOriginDoesNotMatter) {
  if (policy_ == "f1") return;  // its formula uses the log's start
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWorld world = even_world(seed);
    const auto before = play(world, policy_);
    const int64_t year_us = 365 * 86'400 * kSecond;
    for (Job& job : world.jobs) job.submit_us += year_us;
    for (Fault& fault : world.faults) fault.at_us += year_us, fault.until_us += year_us;
    expect_same(before, play(world, policy_), 1, year_us);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Metamorphic, NamesDoNotMatter) {
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWorld world = world_of(seed, {.jobs = 40, .rates = true, .tenants = true});
    const auto before = play(world, policy_);
    const auto other = [](std::string& name) {
      if (!name.empty()) name = std::string(name.rbegin(), name.rend()) + "'";
    };
    for (Job& job : world.jobs) {
      other(job.id);
      other(job.user);
      other(job.tenant);
      for (std::string& id : job.after) other(id);
      for (std::string& type : job.gpu_types) other(type);
    }
    for (Tenant& tenant : world.cluster.tenants) other(tenant.name);
    for (GpuType& type : world.cluster.types) other(type.name);
    for (Node& node : world.cluster.nodes) other(node.name);
    expect_same(before, play(world, policy_));
    if (HasFatalFailure()) return;
  }
}

TEST_P(Metamorphic, TenantsWithoutLimitsDoNotMatter) {
  // These group by tenant by default.
  const std::map<std::string, std::string> settings = {
      {"fair-share", " share=user"}, {"drf", " share=user"}, {"qssf", " per_tenant=false"}};
  const auto own = settings.find(policy_);
  const std::string policy = own == settings.end() ? policy_ : policy_ + own->second;
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWorld world = world_of(seed, {.jobs = 40, .rates = true});
    const auto before = play(world, policy);
    for (const char* name : {"red", "blue", "green"}) {
      Tenant tenant;
      tenant.name = name;
      tenant.limit_gpus = name[0] == 'r' ? 0 : 1000;
      world.cluster.tenants.push_back(tenant);
    }
    world.cluster.nodes[0].tenant = 0;  // lent to others
    for (size_t j = 0; j < world.jobs.size(); ++j) {
      world.jobs[j].tenant = world.cluster.tenants[j * j % 3].name;
    }
    expect_same(before, play(world, policy));
    if (HasFatalFailure()) return;
  }
}

// Jobs restrict their GPU types, so more nodes of another type must not matter.
TEST_P(Metamorphic, UnusableNodesDoNotMatter) {
  // Reservations and shares of a cluster count all GPUs, usable or not.
  if (policy_ == "conservative" || policy_ == "drf" || policy_ == "optimus" || policy_ == "afs") {
    return;
  }
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWorld world = world_of(seed, {.jobs = 40});
    std::vector<std::string> all;
    for (const GpuType& type : world.cluster.types) all.push_back(type.name);
    for (Job& job : world.jobs) {
      if (job.gpu_types.empty()) job.gpu_types = all;
      // Groups without GPUs may be placed anywhere.
      std::erase_if(job.groups,
                    [&](const RoleGroup& g) { return g.task.gpus + g.task.gpu_milli == 0; });
      if (job.gpus == 0) job.gpus = 1;
    }
    Node odd = world.cluster.nodes[0];
    odd.type = static_cast<int32_t>(world.cluster.types.size());
    GpuType type = world.cluster.types[0];
    type.name = "odd";
    world.cluster.types.push_back(type);
    world.cluster.nodes.push_back(odd);
    const auto before = play(world, policy_);
    for (int i = 0; i < 5; ++i) world.cluster.nodes.push_back(odd);
    expect_same(before, play(world, policy_));
    if (HasFatalFailure()) return;
  }
}

// State and memory are complete: a copy of both, taken at any event, plays to the same end.
TEST_P(Metamorphic, ForkContinuesIdentically) {
  const auto scheduler = make_policy(policy_);
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng{seed}.split(11);
    const RandomWorld world =
        world_of(seed, {.jobs = 40, .rates = true, .tenants = rng.below(2) == 0});
    const std::unique_ptr<Scene> scene = scene_of(world);
    SceneRunner whole(*scene, *scheduler);
    std::vector<std::unique_ptr<SceneRunner>> forks;
    while (whole.step()) {
      if (rng.below(10) != 0) continue;
      forks.push_back(std::make_unique<SceneRunner>(*scene, *scheduler));
      forks.back()->copy_from(whole);
    }
    ASSERT_FALSE(whole.failed());
    ASSERT_GT(forks.size(), 2u);
    for (const auto& fork : forks) {
      fork->play();
      ASSERT_FALSE(fork->failed());
      EXPECT_EQ(digest(scene->fixed(), fork->state()), digest(scene->fixed(), whole.state()));
      expect_same(whole.jobs(), fork->jobs());
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registered, Metamorphic, ::testing::ValuesIn(PolicyRegistry::names()),
                         test_name);

}  // namespace
}  // namespace yard::testing
