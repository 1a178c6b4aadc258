// The `default` rules with every feature, against a slow simulator that shares no code with them.
// On small random worlds, starts, ends, preemptions, failures and totals agree. Integers agree
// exactly, bytes moved up to the order of summation. YARD_WORLDS sets the number of worlds
// (scripts/check_deep.sh: 10,000).
#include "tests/reference/world_reference.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/sim/rulesets/rule_set.h"
#include "policies/policy.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"
#include "tests/support/step_checker.h"

namespace yard::testing {
namespace {

using reference::JobEnd;
using reference::WorldEnd;

// The same table as nested lists.
reference::SpeedBook slow_speeds(const RandomSpeeds& speeds) {
  const SpeedColumns c = speeds.columns();
  reference::SpeedBook book;
  book.unmeasured_pair = c.unmeasured_pair;
  for (const int32_t job_class : speeds.classes) {
    book.kind_of_job.push_back(c.class_kind[job_class]);
    book.asked_steps_per_s.push_back(c.class_reference[job_class]);
  }
  book.pair_rate.resize(static_cast<size_t>(c.num_types));
  for (int32_t k = 0; k < c.num_kinds; ++k) {
    reference::SpeedKind& kind = book.kinds.emplace_back();
    kind.gradient_bytes = c.gradient_bytes[k];
    kind.counts_worker_steps = c.counts_worker_steps[k] != 0;
    kind.server_exchange = c.server_exchange[k] != 0;
    for (int32_t t = 0; t < c.num_types; ++t) {
      auto& by_gpus = kind.cells.emplace_back();
      by_gpus.resize(static_cast<size_t>(c.max_gpus) + 1);
      for (int32_t n = 0; n <= c.max_gpus; ++n) {
        for (int tier = 1; tier < kTiers; ++tier) {
          for (size_t w = 0; w < reference::kWidths; ++w) {
            constexpr std::array kNodes = {1, 2, 3, 4, 5, 9};
            const int64_t cell = speed_cell_index(c, k, t, n, static_cast<Tier>(tier), kNodes[w]);
            by_gpus[static_cast<size_t>(n)][static_cast<size_t>(tier)][w] = {
                c.steps_per_s[cell], c.exchange_share[cell]};
          }
        }
      }
      auto& beside = book.pair_rate[static_cast<size_t>(t)].emplace_back();
      for (int32_t other = 0; other < c.num_kinds; ++other) {
        beside.push_back(c.pair_rate[(t * c.num_kinds + k) * c.num_kinds + other]);
      }
    }
  }
  return book;
}

reference::SlowWorld slow(const RandomWorld& world) {
  const PreemptionCosts& c = world.costs;
  reference::SlowWorld out{
      world.cluster,
      world.jobs,
      {},
      {c.save_us, c.restore_us, c.restore_large_us, c.small_gpus, c.checkpoint_us, c.scale},
      {}};
  out.kinds.assign(world.pair_conflicts.kind.begin(), world.pair_conflicts.kind.end());
  for (size_t i = 0; i < world.pair_conflicts.conflicts.size(); ++i) {
    for (int other = 0; other < world.pair_conflicts.num_kinds; ++other) {
      const auto kinds = static_cast<size_t>(world.pair_conflicts.num_kinds);
      if ((world.pair_conflicts.conflicts[i] >> other & 1) == 0) continue;
      out.pair_conflicts.push_back(
          {static_cast<int>(i / kinds), static_cast<int>(i % kinds), other});
    }
  }
  if (world.speeds) out.speeds = slow_speeds(*world.speeds);
  for (const Fault& f : world.faults) {
    out.outages.push_back({f.at_us, f.until_us, f.node, f.mask,
                           static_cast<reference::Outage::Kind>(f.kind), f.notice_us});
  }
  return out;
}

WorldEnd play_fast(const RandomWorld& world, const std::string& policy,
                   const std::string& placement) {
  const std::unique_ptr<Scene> held = scene_of(world);
  const Scene& scene = *held;
  const auto scheduler = make_policy(policy + " placement=" + placement);
  PolicyDecider decider(*scheduler);
  WorldEnd out;
  out.jobs.resize(world.jobs.size());
  StepChecker checker(scene.fixed());
  const auto watch = [&](const SimState& s) {
    checker.observe(s);
    for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
      if (s.phase[slot] == Phase::kFree) continue;
      out.jobs[static_cast<size_t>(s.job[slot])] = {
          s.first_start_us[slot], s.phase[slot] == Phase::kDone ? s.head->now_us : -1,
          s.preempted[slot], s.started[slot], scene.fixed().faults ? s.failed[slot] : 0};
    }
    const StateHeader& h = *s.head;
    out.end_us = h.now_us;
    out.job_time_us = h.job_time_us;
    out.held_time_us = h.held_time_us;
    out.down_time_us = h.down_time_us;
    out.lost_time_us = h.lost_time_us;
    out.moved_bytes = h.moved_bytes;
  };
  try {
    RuleSetRegistry::make("default", {})
        ->replay({.fixed = scene.fixed(),
                  .workload = scene.workload(),
                  .first_job = 0,
                  .end_job = scene.size(),
                  .policy = policy,
                  .placement = "",
                  .settings = {},
                  .decider = &decider,
                  .watch = watch});
  } catch (const RunError&) {
    out.end_us = -1;  // jobs wait forever
  }
  EXPECT_EQ(checker.broken(), "");
  return out;
}

std::string text_of(const JobEnd& job) {
  return "start " + std::to_string(job.start_us) + " end " + std::to_string(job.end_us) +
         " preemptions " + std::to_string(job.preemptions) + " starts " +
         std::to_string(job.starts) + " failures " + std::to_string(job.failures);
}

bool same(const JobEnd& a, const JobEnd& b) { return text_of(a) == text_of(b); }

// Returns "" if both agree; else describes the job that differs earliest in time.
std::string difference(const WorldEnd& fast, const WorldEnd& slow) {
  const auto when = [&](size_t j) {
    const JobEnd &f = fast.jobs[j], &s = slow.jobs[j];
    if (f.start_us != s.start_us) return std::min<uint64_t>(f.start_us, s.start_us);
    return std::min<uint64_t>(f.end_us, s.end_us);
  };
  size_t first = fast.jobs.size();
  for (size_t j = 0; j < fast.jobs.size(); ++j) {
    if (same(fast.jobs[j], slow.jobs[j])) continue;
    if (first == fast.jobs.size() || when(j) < when(first)) first = j;
  }
  if (first < fast.jobs.size()) {
    return "job " + std::to_string(first) + "\n  fast: " + text_of(fast.jobs[first]) +
           "\n  slow: " + text_of(slow.jobs[first]);
  }
  const auto total = [](const char* name, int64_t f, int64_t s) {
    return f == s ? ""
                  : std::string(name) + " fast " + std::to_string(f) + " slow " +
                        std::to_string(s) + "\n";
  };
  if (fast.end_us < 0 && slow.end_us < 0) return "";
  // The same terms, summed in another order.
  const double apart = std::abs(fast.moved_bytes - slow.moved_bytes);
  const std::string moved = apart <= 1e-12 * slow.moved_bytes
                                ? ""
                                : "bytes moved fast " + std::to_string(fast.moved_bytes) +
                                      " slow " + std::to_string(slow.moved_bytes) + "\n";
  return total("end", fast.end_us, slow.end_us) +
         total("time of jobs", fast.job_time_us, slow.job_time_us) +
         total("time held", fast.held_time_us, slow.held_time_us) +
         total("time down", fast.down_time_us, slow.down_time_us) +
         total("time lost", fast.lost_time_us, slow.lost_time_us) + moved;
}

uint64_t worlds() {
  const char* text = std::getenv("YARD_WORLDS");
  return text == nullptr ? 200 : std::strtoull(text, nullptr, 10);
}

class WorldReference : public ::testing::TestWithParam<std::string> {};

TEST_P(WorldReference, MatchesTheReferenceSimulator) {
  const std::string policy = GetParam();
  int64_t preemptions = 0, failures = 0;
  double moved_bytes = 0;
  for (uint64_t seed = 1; seed <= worlds(); ++seed) {
    Rng rng = Rng{seed}.split(6);
    RandomWorldOptions options{.jobs = 10 + static_cast<int32_t>(rng.below(30))};
    options.shapes = rng.below(8) != 0;
    options.after = rng.below(4) != 0;
    options.faults = rng.below(4) != 0;
    options.rates = rng.below(4) != 0;
    options.tenants = rng.below(3) == 0;
    const RandomWorld world = random_world(Rng(seed), options);
    const std::string placement = kPlacementRuleNames[rng.below(4)];
    const WorldEnd ours = play_fast(world, policy, placement);
    ASSERT_EQ(difference(ours, reference::play_world(slow(world), policy, placement)), "")
        << "seed " << seed << ": " << policy << " " << placement;
    for (const JobEnd& job : ours.jobs) preemptions += job.preemptions, failures += job.failures;
    moved_bytes += ours.moved_bytes;
  }
  EXPECT_GT(preemptions, 0);
  EXPECT_GT(failures, 0);
  EXPECT_GT(moved_bytes, 0);
}

// If all jobs ask for whole GPUs of equal nodes, the simulator uses sums and an index instead of
// trial placements.
TEST_P(WorldReference, MatchesTheReferenceOnEqualNodes) {
  const std::string policy = GetParam();
  for (uint64_t seed = 1; seed <= worlds() / 2; ++seed) {
    Rng rng = Rng{seed}.split(7);
    const RandomWorld world =
        random_world(Rng(seed), {.jobs = 10 + static_cast<int32_t>(rng.below(30)),
                                 .shapes = false,
                                 .after = false,
                                 .faults = rng.below(4) == 0,
                                 .tenants = rng.below(3) == 0,
                                 .equal = true});
    const std::string placement = kPlacementRuleNames[rng.below(2) == 0 ? 2 : rng.below(3)];
    ASSERT_EQ(difference(play_fast(world, policy, placement),
                         reference::play_world(slow(world), policy, placement)),
              "")
        << "seed " << seed << ": " << policy << " " << placement;
  }
}

INSTANTIATE_TEST_SUITE_P(All, WorldReference,
                         ::testing::Values("fifo", "greedy", "sjf", "srtf", "srsf", "las"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace yard::testing
