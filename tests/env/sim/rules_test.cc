// Costs and times under the rules, in cases small enough to compute by hand.
// The costs are those of `default`: a save takes 10 s, a restore 30 s, or 60 s above 8 GPUs.
#include "env/sim/rules/rules.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

#include "env/sim/rules/advance.h"
#include "env/sim/rules/digest.h"
#include "env/sim/rules/world.h"
#include "env/sim/view/plan.h"
#include "env/trace/core/max_time.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

// A policy which acts at given times, as each test specifies.
struct Script final : Policy {
  using Act = std::function<void(const View&, Draft&)>;
  std::map<double, Act> acts;  // by seconds

  InformationLevel level() const override { return InformationLevel::kBlind; }
  void decide(const View& view, Memory&, Draft& draft) const override {
    const double now_s = static_cast<double>(view.now_us()) / kSecond;
    if (const auto it = acts.find(now_s); it != acts.end()) it->second(view, draft);
    const auto next = acts.upper_bound(now_s);
    if (next != acts.end()) draft.wake_at(static_cast<int64_t>(next->first * kSecond));
  }
};

// While no job has ended, slots are the indices of jobs.
Script::Act start_on(int32_t slot, std::vector<Piece> pieces) {
  return [=](const View&, Draft& draft) {
    EXPECT_TRUE(draft.start(slot, pieces.data(), static_cast<int32_t>(pieces.size())));
  };
}

Script::Act stop(int32_t slot) {
  return [=](const View&, Draft& draft) { EXPECT_TRUE(draft.preempt(slot)); };
}

Script::Act both(Script::Act a, Script::Act b) {
  return [=](const View& view, Draft& draft) {
    a(view, draft);
    b(view, draft);
  };
}

// A century of a large cluster, and more GPUs requested than an int32 holds.
TEST(Rules, SumsDoNotOverflow) {
  const Scene scene("4096x64", jobs_of({{0, 1 << 18, kMaxTimeS}}), no_costs());
  Script script;
  std::vector<Piece> all;
  for (int32_t m = 0; m < 4096; ++m) all.push_back({m, 64});
  script.acts = {{0, start_on(0, all)}};
  SceneRunner runner(scene, script);
  runner.play();
  const StateHeader& h = *runner.state().head;
  EXPECT_EQ(h.now_us, kMaxTimeS * kSecond);
  EXPECT_TRUE(h.held_time_us == WideUs{1 << 18} * kMaxTimeS * kSecond);

  const Scene many("16384x64", jobs_of(std::vector<JobLine>(3000, {0, 1 << 20, 1})));
  World world(many.fixed(), many.size());
  world.reset(0, many.size());
  ASSERT_TRUE(world.advance(many.truth()));
  EXPECT_EQ(world.state().head->waiting_gpus, int64_t{3000} << 20);
}

TEST(Rules, PreemptedJobSavesHoldsItsGpusAndRestores) {
  const Scene scene("1x8", jobs_of({{0, 8, 100}, {0, 1, 1000}}));
  Script script;
  script.acts = {{0, start_on(0, {{0, 8}})},
                 {40, both(stop(0), start_on(1, {{0, 1}}))},  // its GPU is free at 50
                 {60, start_on(0, {})}};
  script.acts[60] = [](const View& view, Draft& draft) {
    const Piece piece{0, 8};
    EXPECT_FALSE(draft.start(0, &piece, 1)) << "seven GPUs are free";
    EXPECT_EQ(view.phase(0), Phase::kWaiting) << "saved at 50";
  };
  script.acts[70] = both(stop(1), start_on(0, {{0, 8}}));  // free at 80, restored at 110
  script.acts[200] = start_on(1, {{0, 1}});
  SceneRunner runner(scene, script);
  std::map<double, Phase> phase_of_0;
  while (runner.step()) {
    phase_of_0[static_cast<double>(runner.view().now_us()) / kSecond] = runner.state().phase[0];
  }
  EXPECT_EQ(phase_of_0[40], Phase::kStopping);
  EXPECT_EQ(phase_of_0[50], Phase::kWaiting);
  EXPECT_EQ(phase_of_0[70], Phase::kStarting);
  EXPECT_EQ(phase_of_0[110], Phase::kRunning);
  EXPECT_EQ(runner.jobs()[0].end_us, 170 * kSecond);  // 40 s were done, 60 are left at 110
  // It ran from 50 to 70 (20 s done) and resumes at 200 + 30: 980 s are left.
  EXPECT_EQ(runner.jobs()[1].start_us, 40 * kSecond) << "when its GPUs are assigned";
  EXPECT_EQ(runner.jobs()[1].end_us, 1210 * kSecond);
  EXPECT_EQ(runner.jobs()[1].preemptions, 1);
  EXPECT_EQ(runner.jobs()[1].restarts, 1);
}

TEST(Rules, RestoringTakesLongerBeyondEightGpus) {
  for (const auto& [gpus, restore_s] : {std::pair{8, 30}, std::pair{9, 60}}) {
    const Scene scene("2x8", jobs_of({{0, gpus, 100}}));
    Script script;
    const std::vector<Piece> pieces =
        gpus == 8 ? std::vector<Piece>{{1, 8}} : std::vector<Piece>{{0, 4}, {1, 5}};
    script.acts = {{0, start_on(0, pieces)}, {30, stop(0)}, {50, start_on(0, pieces)}};
    SceneRunner runner(scene, script);
    runner.play();
    EXPECT_EQ(runner.jobs()[0].end_us, (50 + restore_s + 70) * kSecond);
  }
}

TEST(Rules, JobWithItsOwnCostsIsChargedThose) {
  std::vector<Job> jobs = jobs_of({{0, 1, 100}, {0, 1, 100}});
  jobs[0].save_us = 3 * kSecond;
  jobs[0].restore_us = 7 * kSecond;
  for (const double scale : {1.0, 4.0, 0.0}) {
    PreemptionCosts costs;
    costs.scale = scale;
    const Scene scene("2x1", jobs, costs);
    Script script;
    script.acts = {{0, both(start_on(0, {{0, 1}}), start_on(1, {{1, 1}}))},
                   {20, both(stop(0), stop(1))},
                   {60, both(start_on(0, {{0, 1}}), start_on(1, {{1, 1}}))}};
    SceneRunner runner(scene, script);
    while (runner.step()) {
      if (runner.view().now_us() != 20 * kSecond) continue;
      EXPECT_EQ(runner.view().transition_end_us(0), (20 + 3 * scale) * kSecond);
      EXPECT_EQ(runner.view().transition_end_us(1), 30 * kSecond) << "as for every job";
    }
    EXPECT_EQ(runner.jobs()[0].end_us, (60 + 7 * scale + 80) * kSecond);
    EXPECT_EQ(runner.jobs()[1].end_us, (60 + 30 + 80) * kSecond);
  }
}

TEST(Rules, JobWithoutProgressRestoresNothing) {
  const Scene scene("1x1", jobs_of({{0, 1, 100}}));
  Script script;
  script.acts = {{0, start_on(0, {{0, 1}})}};
  SceneRunner runner(scene, script);
  ASSERT_TRUE(runner.advance());
  SimState& s = runner.world().state();
  const Piece piece{0, 1};
  start(scene.fixed(), s, 0, &piece, 1);
  preempt(scene.fixed(), s, 0);
  EXPECT_EQ(s.phase[0], Phase::kStopping) << "a running job saves, even with little work done";
  ASSERT_TRUE(runner.world().advance(scene.truth()));
  EXPECT_EQ(s.head->now_us, 10 * kSecond);
  start(scene.fixed(), s, 0, &piece, 1);
  EXPECT_EQ(s.phase[0], Phase::kRunning) << "no work was done, so none is restored";
}

TEST(Rules, OneMicrosecondOfWorkIsRestored) {
  const Scene scene("1x1", jobs_of({{0, 1, 100}}));
  Script script;
  SceneRunner runner(scene, script);
  ASSERT_TRUE(runner.advance());
  SimState& s = runner.world().state();
  const Piece piece{0, 1};
  start(scene.fixed(), s, 0, &piece, 1);
  pass_time(scene.fixed(), s, 1);
  preempt(scene.fixed(), s, 0);
  ASSERT_EQ(s.work_done_us[0], 1);
  start(scene.fixed(), s, 0, &piece, 1);
  EXPECT_EQ(s.phase[0], Phase::kStarting);
  EXPECT_EQ(s.until_us[0], 1 + 40 * kSecond) << "saved, then restored";
}

// In any order of the pieces.
TEST(Rules, PiecesNameEachNodeOnce) {
  const Scene scene("4x2", jobs_of({{0, 3, 100}}));
  Script script;
  SceneRunner runner(scene, script);
  ASSERT_TRUE(runner.advance());
  const auto legal = [&](std::vector<int32_t> nodes) {
    std::vector<Piece> pieces;
    for (const int32_t node : nodes) pieces.push_back({node, 1});
    return legal_start(scene.fixed(), runner.world().state(), 0, pieces.data(), 3);
  };
  for (const std::vector<int32_t>& nodes :
       {std::vector{0, 1, 2}, {2, 1, 0}, {1, 3, 2}, {3, 0, 1}}) {
    EXPECT_TRUE(legal(nodes)) << nodes[0] << nodes[1] << nodes[2];
  }
  for (const std::vector<int32_t>& nodes :
       {std::vector{1, 1, 2}, {1, 2, 2}, {2, 0, 2}, {2, 0, 0}, {0, 2, 0}, {2, 2, 1}}) {
    EXPECT_FALSE(legal(nodes)) << nodes[0] << nodes[1] << nodes[2];
  }
}

// With sixteen nodes a column fills a cache line, so that another column follows it directly.
TEST(Rules, MissingJobsAndNodesAreIllegal) {
  const Scene scene("16x8", jobs_of({{0, 1, 100}, {0, 4, 100}}));
  Script script;
  SceneRunner runner(scene, script);
  // Bytes which look like a waiting job in an unused slot.
  for (std::byte& byte : runner.world().raw_state()) byte = static_cast<std::byte>(Phase::kWaiting);
  runner.world().reset(0, 2);
  ASSERT_TRUE(runner.advance());
  SimState& s = runner.world().state();
  const SimModel& f = scene.fixed();
  for (const int32_t node : {-1, 16, 17, 31, 1 << 20}) {
    const Piece one{node, 1}, four{node, 4};
    EXPECT_FALSE(legal_start(f, s, 0, &one, 1)) << "node " << node;
    EXPECT_FALSE(legal_start(f, s, 1, &four, 1)) << "node " << node;
  }
  const Piece piece{0, 1};
  ASSERT_TRUE(legal_start(f, s, 0, &piece, 1));
  for (const int32_t slot : {-1, 2, 3, 1 << 20}) {
    EXPECT_FALSE(legal_start(f, s, slot, &piece, 1)) << "slot " << slot;
    EXPECT_FALSE(legal_preempt(f, s, slot)) << "slot " << slot;
  }
  const Piece twice[] = {{0, 2}, {0, 2}}, none[] = {{0, 4}, {1, 0}}, named = {0, 4, 0, 0, 0b111};
  EXPECT_FALSE(legal_start(f, s, 1, twice, 2));
  EXPECT_FALSE(legal_start(f, s, 1, none, 2));
  EXPECT_FALSE(legal_start(f, s, 1, &named, 1)) << "three GPUs named as four";
}

TEST(Rules, StartWaitsForTheLastOfItsGpus) {
  // Job 2 needs GPUs from which jobs 0 and 1 save until 20 and 30.
  const Scene scene("2x2", jobs_of({{0, 2, 100}, {0, 2, 100}, {0, 4, 100}}));
  Script script;
  script.acts = {{0, both(start_on(0, {{0, 2}}), start_on(1, {{1, 2}}))},
                 {10, stop(0)},
                 {20, both(stop(1), start_on(2, {{0, 2}, {1, 2}}))},
                 {300, both(start_on(0, {{0, 2}}), start_on(1, {{1, 2}}))}};
  SceneRunner runner(scene, script);
  runner.play();
  EXPECT_EQ(runner.jobs()[2].start_us, 20 * kSecond);
  EXPECT_EQ(runner.jobs()[2].end_us, 130 * kSecond);
  EXPECT_EQ(runner.jobs()[0].end_us, (300 + 30 + 90) * kSecond);
  EXPECT_EQ(runner.jobs()[1].end_us, (300 + 30 + 80) * kSecond);
}

TEST(Rules, FreeGpusAreUsedBeforeThoseBeingFreed) {
  const Scene scene("1x4", jobs_of({{0, 2, 100}, {0, 2, 100}, {0, 1, 100}}));
  Script script;
  script.acts = {{0, start_on(0, {{0, 2}})},
                 {10, both(stop(0), both(start_on(1, {{0, 2}}), start_on(2, {{0, 1}})))},
                 {15, start_on(0, {})}};
  script.acts.erase(15);
  script.acts[300] = start_on(0, {{0, 2}});
  SceneRunner runner(scene, script);
  while (runner.step()) {
    if (runner.view().now_us() == 10 * kSecond) {
      EXPECT_EQ(runner.state().part_mask[runner.state().first_part[1]], 0b1100u);
      EXPECT_EQ(runner.state().phase[1], Phase::kRunning);
      EXPECT_EQ(runner.state().phase[2], Phase::kStarting);
    }
  }
  EXPECT_EQ(runner.jobs()[1].end_us, 110 * kSecond);
  EXPECT_EQ(runner.jobs()[2].end_us, 120 * kSecond) << "its GPU was left at 20";
}

TEST(Rules, JobMovesInOnePlan) {
  const Scene scene("2x4", jobs_of({{0, 4, 100}}));
  Script script;
  script.acts = {{0, start_on(0, {{0, 4}})}, {50, both(stop(0), start_on(0, {{1, 4}}))}};
  SceneRunner runner(scene, script);
  runner.play();
  // Saved at 60, restored at 90 elsewhere, 50 s left.
  EXPECT_EQ(runner.jobs()[0].end_us, 140 * kSecond);
  EXPECT_EQ(runner.jobs()[0].preemptions, 1);
  EXPECT_EQ(runner.jobs()[0].restarts, 1);
}

TEST(Rules, StoppedMoveWaitsForItsOwnSave) {
  const Scene scene("3x4", jobs_of({{0, 4, 100}}));
  Script script;
  script.acts = {
      {0, start_on(0, {{0, 4}})}, {50, both(stop(0), start_on(0, {{1, 4}}))}, {52, stop(0)}};
  script.acts[54] = [](const View& view, Draft& draft) {
    EXPECT_EQ(view.phase(0), Phase::kStopping) << "the save goes on until 60";
    const Piece piece{2, 4};
    EXPECT_TRUE(draft.start(0, &piece, 1));
  };
  SceneRunner runner(scene, script);
  runner.play();
  EXPECT_EQ(runner.jobs()[0].end_us, (60 + 30 + 50) * kSecond);
}

TEST(Rules, TwoJobsSwapTheirNodesInOnePlan) {
  const Scene scene("2x4", jobs_of({{0, 4, 100}, {0, 4, 200}}));
  Script script;
  script.acts = {
      {0, both(start_on(0, {{0, 4}}), start_on(1, {{1, 4}}))},
      {50, both(both(stop(0), stop(1)), both(start_on(0, {{1, 4}}), start_on(1, {{0, 4}})))}};
  SceneRunner runner(scene, script);
  runner.play();
  EXPECT_EQ(runner.jobs()[0].end_us, (60 + 30 + 50) * kSecond);
  EXPECT_EQ(runner.jobs()[1].end_us, (60 + 30 + 150) * kSecond);
}

TEST(Rules, GangRunsAtTheSpeedOfItsSlowestGpu) {
  ClusterSpec spec = load_cluster("1x2:fast+1x2:slow");
  Trace trace;
  trace.jobs = jobs_of({{0, 2, 100}, {0, 2, 100}, {0, 4, 100}});
  spec.types[0].speed = 2;
  spec.types[1].speed = 0.5;
  const SpecTable table(spec);
  const Workload workload(trace, spec);
  const SimModel fixed{table.columns(), workload.jobs().columns(), PreemptionCosts{}};
  World world(fixed, 3);
  world.reset(0, 3);
  SimState& s = world.state();
  ASSERT_TRUE(world.advance(workload.truth()));
  const Piece fast{0, 2}, slow{1, 2};
  start(fixed, s, 0, &fast, 1);
  start(fixed, s, 1, &slow, 1);
  ASSERT_TRUE(world.advance(workload.truth()));
  EXPECT_EQ(s.head->now_us, 50 * kSecond);
  EXPECT_EQ(s.phase[0], Phase::kDone);
  EXPECT_EQ(s.attained_us[0], 50 * kSecond);
  EXPECT_EQ(s.work_done_us[0], 100e6);
  preempt(fixed, s, 1);  // a quarter is done
  ASSERT_TRUE(world.advance(workload.truth()));
  const Piece whole[] = {{0, 2}, {1, 2}};
  start(fixed, s, 2, whole, 2);
  ASSERT_TRUE(world.advance(workload.truth()));
  EXPECT_EQ(s.head->now_us, 260 * kSecond) << "60 + 100 at half speed";
  start(fixed, s, 1, &fast, 1);
  ASSERT_TRUE(world.advance(workload.truth()));  // restored
  ASSERT_TRUE(world.advance(workload.truth()));
  EXPECT_EQ(s.head->now_us, 260 * kSecond + 30 * kSecond + 37'500'000) << "75 s at twice the speed";
  EXPECT_TRUE(all_done(s));
}

TEST(Rules, ProgressScalesWithTheTasksPlaced) {
  Job job = jobs_of({{0, 2, 60}})[0];
  job.groups = {group_of(2, 1, 0, 0, 0)};
  job.groups[0].min_count = 1;
  job.groups[0].max_count = 3;
  const Scene scene("1x4", {job});
  for (int32_t tasks = 1; tasks <= 3; ++tasks) {
    World world(scene.fixed(), 1);
    world.reset(0, 1);
    ASSERT_TRUE(world.advance(scene.truth()));
    const Piece piece{0, tasks, 0, tasks};
    ASSERT_TRUE(legal_start(scene.fixed(), world.state(), 0, &piece, 1));
    start(scene.fixed(), world.state(), 0, &piece, 1);
    ASSERT_TRUE(world.advance(scene.truth()));
    EXPECT_EQ(world.state().head->now_us, 120 * kSecond / tasks);
    EXPECT_TRUE(all_done(world.state()));
  }
}

TEST(Rules, JobNeverEndsBeforeItsWorkIsDone) {
  // Neither work nor its end is a whole number of microseconds of the other.
  for (const double speed : {0.7, 1.0 / 3, 3.0}) {
    for (const int64_t work_us : {1, 2, 3, 7, 1000003}) {
      ClusterSpec spec = load_cluster("1x1");
      spec.types[0].speed = speed;
      Trace trace;
      trace.jobs = jobs_of({{0, 1, 1}});
      trace.jobs[0].run_us = work_us;
      const SpecTable table(spec);
      const Workload workload(trace, spec);
      const SimModel fixed{table.columns(), workload.jobs().columns(), PreemptionCosts{}};
      World world(fixed, 1);
      world.reset(0, 1);
      ASSERT_TRUE(world.advance(workload.truth()));
      const Piece piece{0, 1};
      start(fixed, world.state(), 0, &piece, 1);
      ASSERT_TRUE(world.advance(workload.truth()));
      const double done = world.state().work_done_us[0];
      EXPECT_GE(done, static_cast<double>(work_us));
      EXPECT_LT(done, static_cast<double>(work_us) + speed) << "a microsecond earlier suffices";
    }
  }
}

TEST(Rules, EndsComeBeforeArrivalsInJobOrder) {
  // At 100 two jobs end and one arrives; it finds their GPUs free.
  const Scene scene("1x2", jobs_of({{0, 1, 100}, {0, 1, 100}, {100, 2, 10}}));
  const auto fifo = make_policy("fifo");
  SceneRunner runner(scene, *fifo);
  ASSERT_TRUE(runner.step());
  ASSERT_TRUE(runner.advance());
  const SimState& s = runner.state();
  ASSERT_EQ(s.head->num_changed, 3);
  EXPECT_EQ(s.job[s.changed[0]], 0);
  EXPECT_EQ(s.job[s.changed[1]], 1);
  EXPECT_EQ(s.job[s.changed[2]], 2);
  EXPECT_EQ(s.head->free_gpus, 2);
  ASSERT_TRUE(runner.decide());
  runner.play();
  EXPECT_EQ(runner.jobs()[2].end_us, 110 * kSecond);
}

TEST(Rules, JobWithoutWorkEndsWhenItStarts) {
  const Scene scene("1x1", jobs_of({{5, 1, 0}, {5, 1, 3}}));
  const auto fifo = make_policy("fifo");
  SceneRunner runner(scene, *fifo);
  runner.play();
  EXPECT_EQ(runner.jobs()[0].end_us, 5 * kSecond);
  EXPECT_EQ(runner.jobs()[1].end_us, 8 * kSecond);
}

TEST(Rules, TimerFiresOnce) {
  const Scene scene("1x1", jobs_of({{0, 1, 100}}));
  Script script;
  script.acts = {{0, start_on(0, {{0, 1}})}, {33, [](const View&, Draft&) {}}};
  SceneRunner runner(scene, script);
  std::vector<int64_t> times;
  while (runner.step()) times.push_back(runner.view().now_us() / kSecond);
  EXPECT_EQ(times, (std::vector<int64_t>{0, 33, 100}));
}

TEST(Rules, IntegralsCountJobsInTheSystemAndHeldGpus) {
  const Scene scene("1x4", jobs_of({{0, 4, 100}, {50, 2, 100}}), no_costs());
  const auto fifo = make_policy("fifo");
  SceneRunner runner(scene, *fifo);
  runner.play();
  EXPECT_EQ(runner.state().head->job_time_us, (100 + 150) * kSecond);
  EXPECT_EQ(runner.state().head->held_time_us, (4 * 100 + 2 * 100) * kSecond);
}

TEST(Rules, IllegalActionsAreRejected) {
  const Scene scene("2x4", jobs_of({{0, 4, 100}, {0, 2, 100}}));
  Script script;
  SceneRunner runner(scene, script);
  ASSERT_TRUE(runner.advance());
  SimState& s = runner.world().state();
  const auto may = [&](int32_t slot, std::vector<Piece> pieces) {
    return legal_start(scene.fixed(), s, slot, pieces.data(), static_cast<int32_t>(pieces.size()));
  };
  EXPECT_TRUE(may(0, {{0, 4}}));
  EXPECT_TRUE(may(0, {{0, 3}, {1, 1}}));
  EXPECT_FALSE(may(0, {}));
  EXPECT_FALSE(may(0, {{0, 3}})) << "too few";
  EXPECT_FALSE(may(0, {{0, 4}, {1, 1}})) << "too many";
  EXPECT_FALSE(may(0, {{0, 5}})) << "more than the node has";
  EXPECT_FALSE(may(0, {{0, 2}, {0, 2}})) << "one node twice";
  EXPECT_FALSE(may(0, {{0, 4}, {1, 0}})) << "an empty piece";
  EXPECT_FALSE(may(0, {{2, 4}})) << "no such node";
  EXPECT_FALSE(may(0, {{-1, 4}})) << "no such node";
  EXPECT_FALSE(may(2, {{0, 4}})) << "no such slot";
  EXPECT_FALSE(may(-1, {{0, 4}})) << "no such slot";
  EXPECT_FALSE(legal_preempt(scene.fixed(), s, 0)) << "it does not run";
  EXPECT_FALSE(legal_preempt(scene.fixed(), s, -1));
  EXPECT_FALSE(legal_preempt(scene.fixed(), s, 2));
  const Piece piece{0, 4};
  start(scene.fixed(), s, 0, &piece, 1);
  EXPECT_FALSE(may(0, {{1, 4}})) << "it runs";
  EXPECT_FALSE(may(1, {{0, 2}})) << "held by another";
  EXPECT_TRUE(legal_preempt(scene.fixed(), s, 0));
  s.pinned[0] = 1;
  EXPECT_FALSE(legal_preempt(scene.fixed(), s, 0)) << "pinned";
}

TEST(Rules, SlotOfAnEarlierEpisodeIsNotAJob) {
  const Scene scene("1x4", jobs_of({{0, 1, 100}, {0, 1, 100}, {0, 1, 100}}));
  World world(scene.fixed(), 3);
  world.reset(0, 3);
  ASSERT_TRUE(world.advance(scene.truth()));
  ASSERT_EQ(world.state().phase[1], Phase::kWaiting);
  world.reset(0, 1);
  ASSERT_TRUE(world.advance(scene.truth()));
  const Piece piece{0, 1};
  EXPECT_TRUE(legal_start(scene.fixed(), world.state(), 0, &piece, 1));
  EXPECT_FALSE(legal_start(scene.fixed(), world.state(), 1, &piece, 1));
}

TEST(Rules, WaitingBeginsAtTheEndOfTheSave) {
  const Scene scene("1x4", jobs_of({{0, 1, 100}}));
  World world(scene.fixed(), 1);
  world.reset(0, 1);
  ASSERT_TRUE(world.advance(scene.truth()));
  SimState& s = world.state();
  const Piece piece{0, 1};
  start(scene.fixed(), s, 0, &piece, 1);
  s.head->timer_us = 50 * kSecond;
  ASSERT_TRUE(world.advance(scene.truth()));
  preempt(scene.fixed(), s, 0);
  EXPECT_EQ(s.since_us[0], 50 * kSecond);
  ASSERT_TRUE(world.advance(scene.truth()));
  ASSERT_EQ(s.phase[0], Phase::kWaiting);
  EXPECT_EQ(s.since_us[0], 60 * kSecond);
}

TEST(Rules, PlanCannotNameAnEndedJob) {
  const Scene scene("1x4", jobs_of({{0, 1, 100}, {0, 1, 500}}));
  World world(scene.fixed(), 2);
  world.reset(0, 2);
  ASSERT_TRUE(world.advance(scene.truth()));
  SimState& s = world.state();
  const Piece piece{0, 1};
  start(scene.fixed(), s, 0, &piece, 1);
  ASSERT_TRUE(world.advance(scene.truth()));
  ASSERT_EQ(s.phase[0], Phase::kDone);
  Plan plan;
  plan.edits.push_back({Verb::kPreempt, {0, s.generation[0]}, 0, 0});
  EXPECT_NE(flaw_of_decision(scene.fixed(), s, plan).find("no such job"), std::string::npos);
}

}  // namespace
}  // namespace yard::testing
