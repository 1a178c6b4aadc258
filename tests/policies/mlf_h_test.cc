// MLF-H: equations 2 to 6 of MLFS against a slow reference written from the paper's text, and the
// starts and preemptions that follow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "env/base/core/rng.h"
#include "env/cluster/ready.h"
#include "env/scheduling/mlf.h"
#include "tests/support/outcomes.h"

namespace yard::testing {
namespace {

// A task of any graph, with the quantities of the equations.
struct ReferenceTask {
  double urgency, iteration, size;
  std::vector<double> falls;  // loss reductions of earlier iterations
  double deadline_h, now_h, left_h, waited_h;
  std::vector<int> children;
};

double reference_priority(const std::vector<ReferenceTask>& tasks, int k,
                          const MlfsPriorityWeights& w) {
  const std::function<double(int)> learning = [&](int i) {  // eq. 2 and 3
    const ReferenceTask& t = tasks[static_cast<size_t>(i)];
    double fell = 0;
    for (const double f : t.falls) fell += f;
    double p =
        t.urgency * (1 / t.iteration) * (t.falls.empty() ? 1 : t.falls.back() / fell) * t.size;
    for (const int c : t.children) p += w.gamma * learning(c);
    return p;
  };
  const std::function<double(int)> time = [&](int i) {  // eq. 4 and 5
    const ReferenceTask& t = tasks[static_cast<size_t>(i)];
    const double left = t.left_h / w.unit_h, waited = t.waited_h / w.unit_h;
    double p = w.left * (1 / left) + w.waited * waited;
    const double deadline = t.deadline_h / w.unit_h, now = t.now_h / w.unit_h;
    if (deadline > now) p += w.deadline * (1 / (deadline - now));
    for (const int c : t.children) p += w.gamma * time(c);
    return p;
  };
  return w.alpha * learning(k) + (1 - w.alpha) * time(k);  // eq. 6
}

TEST(MlfH, PrioritiesMatchTheEquations) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const MlfsPriorityWeights w{rng.uniform(), rng.uniform(), rng.uniform(),
                                rng.uniform(), rng.uniform(), 0.1 + 30 * rng.uniform()};
    ReferenceTask task{1 + 9 * rng.uniform(),
                       1,
                       0,
                       {},
                       48 * rng.uniform(),
                       24 * rng.uniform(),
                       0.02 + 10 * rng.uniform(),
                       20 * rng.uniform(),
                       {}};
    for (uint32_t i = rng.below(5); i > 0; --i) task.falls.push_back(0.01 + rng.uniform());
    task.iteration = 1 + static_cast<double>(task.falls.size());
    if (std::abs(task.deadline_h - task.now_h) < 0.02) task.deadline_h = task.now_h + 1;
    std::vector<double> shares(1 + rng.below(6));
    std::vector<ReferenceTask> chain;
    double all = 0;
    for (double& s : shares) all += s = 0.1 + rng.uniform();
    for (size_t k = 0; k < shares.size(); ++k) {
      chain.push_back(task);
      chain.back().size = shares[k] /= all;
      if (k + 1 < shares.size()) chain.back().children = {static_cast<int>(k) + 1};
    }
    MlfsJobState job;
    double fell = 0;
    for (const double f : task.falls) fell += f;
    job.urgency = task.urgency, job.iteration = task.iteration;
    if (!task.falls.empty()) job.last_fall = task.falls.back() / fell;
    job.to_deadline_h = task.deadline_h - task.now_h;
    job.left_h = task.left_h, job.waited_h = task.waited_h;
    const double expected = reference_priority(chain, 0, w);
    EXPECT_NEAR(mlf_priority(w, job, shares), expected, 1e-12 * std::max(1.0, expected));
  }
}

TEST(MlfH, OverdueAndNearlyDoneJobsStayFinite) {
  const MlfsPriorityWeights w;
  MlfsJobState job;
  job.left_h = 1;
  const std::vector<double> whole = {1.0};
  const double without = mlf_priority(w, job, whole);
  job.to_deadline_h = -1;
  EXPECT_EQ(mlf_priority(w, job, whole), without);
  job.to_deadline_h = 1e-9;
  EXPECT_NEAR(mlf_priority(w, job, whole), without + 0.7 * 0.3 * 60 * 24, 1e-9);
  job.left_h = -3;
  EXPECT_NEAR(mlf_priority(w, job, whole), 0.3 + 0.7 * (0.3 * 60 + 0.3 * 60) * 24, 1e-9);
}

// At 600 s: two jobs run since 0 on one node of two GPUs, and one waits since 120 s.
TEST(MlfH, JobFeaturesMatchHandComputation) {
  std::vector<Job> jobs = jobs_of({{0, 1, 1200}, {0, 1, 1200}, {120, 1, 60}, {600, 1, 60}});
  jobs[0].priority = 7;
  jobs[0].dues = {{4'200'000'000, 1}};
  // The loss after each minute of work: 1/1, 1/2, 1/3, ...
  for (int m = 0; m <= 20; ++m) jobs[0].curve.push_back({m / 20.0, 1.0 / (1 + m), 0});
  const Scene scene("1x2", jobs, no_costs());
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  const View& view = runner.view();
  while (view.now_us() < 600 * kSecond) ASSERT_TRUE(runner.step());
  const RunEstimate hour = [](int32_t) { return 3600.0; };

  const MlfsJobState first = mlfs_job_state(view, hour, 0);
  EXPECT_EQ(first.urgency, 7);
  EXPECT_EQ(first.iteration, 11);
  EXPECT_NEAR(first.last_fall, (1.0 / 10 - 1.0 / 11) / (1 - 1.0 / 11), 1e-12);
  EXPECT_DOUBLE_EQ(first.to_deadline_h, 1);
  EXPECT_DOUBLE_EQ(first.left_h, 5.0 / 6);
  EXPECT_DOUBLE_EQ(first.waited_h, 0);

  const MlfsJobState second = mlfs_job_state(view, hour, 1);
  EXPECT_EQ(second.urgency, 1) << "not given";
  EXPECT_DOUBLE_EQ(second.last_fall, 0.1) << "as if its loss fell evenly, in ten steps so far";
  EXPECT_EQ(second.to_deadline_h, MlfsJobState::kNoDeadline);

  const MlfsJobState waiting = mlfs_job_state(view, hour, 2);
  EXPECT_EQ(waiting.iteration, 1);
  EXPECT_EQ(waiting.last_fall, 1);
  EXPECT_DOUBLE_EQ(waiting.waited_h, 480.0 / 3600);
  EXPECT_DOUBLE_EQ(waiting.left_h, 1);
}

// Independent record of a job: how long it was seen to run, and how its loss fell per minute of
// work.
struct ObservedProgress {
  int64_t ran_us = 0;
  bool runs = false;
};

double loss_after(const Job& job, double work_s) {
  const double share = std::min(work_s / (1e-6 * static_cast<double>(job.run_us)), 1.0);
  size_t i = 1;
  while (i + 1 < job.curve.size() && job.curve[i].share < share) ++i;
  const TrainingCurvePoint &a = job.curve[i - 1], &b = job.curve[i];
  return a.value + (b.value - a.value) * (share - a.share) / (b.share - a.share);
}

std::vector<ReferenceTask> tasks_of(const Job& job, const ObservedProgress& noted, int64_t now_us,
                                    double total_s) {
  constexpr double kNearestH = 1.0 / 60;
  const double ran_s = 1e-6 * static_cast<double>(noted.ran_us);
  const int minutes = static_cast<int>(noted.ran_us / (60 * kSecond));
  ReferenceTask task{static_cast<double>(std::max<int64_t>(job.priority, 1)),
                     1.0 + minutes,
                     1,
                     {},
                     0,
                     0,
                     std::max((total_s - ran_s) / 3600, kNearestH),
                     1e-6 * static_cast<double>(now_us - job.submit_us - noted.ran_us) / 3600,
                     {}};
  for (int m = 1; m <= minutes; ++m) {
    task.falls.push_back(
        job.curve.empty() ? 1
                          : std::abs(loss_after(job, 60.0 * m - 60) - loss_after(job, 60.0 * m)));
  }
  if (!job.dues.empty()) {
    const double left_s =
        1e-6 * static_cast<double>(job.submit_us + job.dues[0].within_us - now_us);
    task.deadline_h = left_s > 0 ? std::max(left_s / 3600, kNearestH) : 0;
  }
  int parts = 0;
  for (const RoleGroup& g : job.groups) parts += g.task.gpus > 0;
  parts = std::max(parts, 1);
  task.size = 1.0 / parts;
  std::vector<ReferenceTask> chain(static_cast<size_t>(parts), task);
  for (int k = 0; k + 1 < parts; ++k) chain[static_cast<size_t>(k)].children = {k + 1};
  return chain;
}

// Jobs with any task graphs, deadlines, urgency and losses. Checks every event of a play with
// starts and preemptions.
TEST(MlfH, PrioritiesOfRandomStatesMatchTheEquations) {
  int compared = 0, ran_before = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<Job> jobs = random_jobs(rng.split(1), {.sizes = {1, 1, 2, 4}});
    for (Job& job : jobs) {
      job.priority = static_cast<int64_t>(rng.below(11));
      if (rng.uniform() < 0.5) job.dues = {{1 + static_cast<int64_t>(4e9 * rng.uniform()), 1}};
      if (rng.uniform() < 0.7) {
        double share = 0, loss = 2;
        for (int i = 0; i < 6; ++i) {
          job.curve.push_back({i == 5 ? 1 : share, loss, 0});
          share += 0.01 + 0.18 * rng.uniform();
          loss *= 0.3 + 0.6 * rng.uniform();
        }
      }
      if (job.gpus < 2 || rng.uniform() < 0.5) continue;
      RoleGroup part;
      part.task.gpus = 1;
      for (int g = 0; g < job.gpus; ++g) {
        part.role = "stage" + std::to_string(g);
        job.groups.push_back(part);
      }
    }
    const MlfsPriorityWeights w{rng.uniform(), rng.uniform(), rng.uniform(),
                                rng.uniform(), rng.uniform(), 0.1 + 30 * rng.uniform()};
    const Scene scene("2x4", jobs, no_costs());
    const auto policy = make_policy(seed % 2 == 0 ? "las" : "mlf-h");
    SceneRunner runner(scene, *policy);
    const View& view = runner.view();
    std::vector<ObservedProgress> noted(jobs.size());
    int64_t before_us = 0;
    while (runner.advance()) {
      for (ObservedProgress& n : noted) n.ran_us += n.runs ? view.now_us() - before_us : 0;
      before_us = view.now_us();
      const auto total_s = [&](int32_t slot) { return 600 + 10.0 * view.serial(slot); };
      for (int32_t slot = 0; slot < view.slot_high_water(); ++slot) {
        if (view.phase(slot) != Phase::kWaiting && view.phase(slot) != Phase::kRunning) continue;
        const auto j = static_cast<size_t>(view.serial(slot));
        const double expected =
            reference_priority(tasks_of(jobs[j], noted[j], view.now_us(), total_s(slot)), 0, w);
        ASSERT_NEAR(mlf_priority(view, total_s, w, slot), expected, 1e-6 * std::max(1.0, expected))
            << jobs[j].id << " at " << view.now_us();
        ++compared;
        ran_before += noted[j].ran_us > 60 * kSecond;
      }
      if (!runner.decide()) break;
      for (size_t j = 0; j < jobs.size(); ++j) noted[j].runs = false;
      for (int32_t slot = 0; slot < view.slot_high_water(); ++slot) {
        if (view.phase(slot) == Phase::kRunning) {
          noted[static_cast<size_t>(view.serial(slot))].runs = true;
        }
      }
    }
    ASSERT_FALSE(runner.failed());
  }
  EXPECT_GT(compared, 5000);
  EXPECT_GT(ran_before, 1000);
}

// On one GPU jobs run one by one, without preemption. Jobs not seen before are expected to take an
// hour.
std::vector<std::string> order_of(std::vector<Job> jobs, const std::string& policy) {
  const Scene scene("1x1", jobs, no_costs());
  const auto scheduler = make_policy(policy);
  SceneRunner runner(scene, *scheduler);
  runner.play();
  EXPECT_FALSE(runner.failed());
  std::vector<size_t> by_start(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) by_start[i] = i;
  std::ranges::sort(by_start, std::less(), [&](size_t i) { return runner.jobs()[i].start_us; });
  std::vector<std::string> out;
  for (const size_t i : by_start) out.push_back(jobs[i].id);
  return out;
}

// When the first job ends, all others have waited, and are expected to run, for about as long.
TEST(MlfH, OrdersByUrgencyThenDeadline) {
  std::vector<Job> jobs = jobs_of({{0, 1, 100}, {1, 1, 100}, {2, 1, 100}, {3, 1, 100}});
  for (Job& job : jobs) job.user = "u" + job.id;
  jobs[2].dues = {{36'000'000'000, 1}};
  jobs[3].priority = 10;
  const auto ids = [&](const std::vector<int>& order) {
    std::vector<std::string> out;
    for (const int i : order) out.push_back(jobs[static_cast<size_t>(i)].id);
    return out;
  };
  EXPECT_EQ(order_of(jobs, "mlf-h stopped_share=0"), ids({0, 3, 2, 1}));
  EXPECT_EQ(order_of(jobs, "mlf-h stopped_share=0 alpha=0"), ids({0, 2, 1, 3}));
  EXPECT_EQ(order_of(jobs, "mlf-h stopped_share=0 alpha=0 deadline=0"), ids({0, 1, 2, 3}));
}

// A long-running job is preempted for one with ten times its urgency and continues afterwards. At
// most a tenth of the running jobs is preempted, at most once a minute.
TEST(MlfH, LowestTenthIsPreemptedOnceAMinute) {
  std::vector<Job> jobs = jobs_of({{0, 1, 3000}, {0, 1, 3000}, {70, 1, 50}, {71, 1, 500}});
  jobs[2].priority = jobs[3].priority = 10;
  const auto played = outcomes("mlf-h", "2x1", jobs, no_costs());
  EXPECT_EQ(played[2].start_us, 70'000'000);  // the first decision of its minute
  EXPECT_EQ(played[2].end_us, 120'000'000);
  EXPECT_EQ(played[3].start_us, 120'000'000);
}

// Two jobs with ten times the urgency arrive together. A tenth of two running jobs is rounded to
// one, so one of them waits for the next round, though both are considered in one decision.
TEST(MlfH, TenthAppliesToTheDecisionNotToEachJob) {
  std::vector<Job> jobs = jobs_of({{0, 1, 3000}, {0, 1, 3000}, {70, 1, 500}, {70, 1, 500}});
  jobs[2].priority = jobs[3].priority = 10;
  const auto played = outcomes("mlf-h", "2x1", jobs, no_costs());
  EXPECT_EQ(played[2].start_us, 70'000'000);
  EXPECT_GE(played[3].start_us, 130'000'000);
  EXPECT_LT(played[3].start_us, 570'000'000);
}

// If no job runs, none can be preempted, and no timer is set.
TEST(MlfH, SetsNoTimerWithoutRunningJobs) {
  Scene scene("1x1", jobs_of({{10, 1, 100}}), no_costs());
  scene.set_faults({{.at_us = 20 * kSecond, .until_us = 36'000 * kSecond, .mask = 1}});
  const auto scheduler = make_policy("mlf-h");
  SceneRunner runner(scene, *scheduler);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[0].end_us, 36'100 * kSecond);
  EXPECT_LT(runner.events(), 10);
}

// Each task goes to the least used server, without counting the job's own tasks. Servers whose
// cores would exceed the threshold are avoided if there is another.
TEST(MlfH, TasksGoToTheServerNearestTheIdeal) {
  std::vector<Job> jobs = jobs_of({{0, 1, 500}, {1, 1, 500}, {2, 2, 500}});
  const auto group = [](int32_t count, int32_t cores) {
    RoleGroup out;
    out.count = count;
    out.task = {.gpus = 1, .cpu_milli = 1000 * cores};
    return out;
  };
  jobs[0].groups = {group(1, 5)};
  jobs[1].groups = {group(1, 5)};
  jobs[2].groups = {group(2, 3)};
  const Scene scene(load_cluster("servers-6"), jobs, no_costs());
  const auto scheduler = make_policy("mlf-h");
  SceneRunner runner(scene, *scheduler);
  for (int event = 0; event < 3; ++event) runner.step();
  for (int32_t i = 0; i < 3; ++i) {
    const int32_t slot = runner.view().holder_slot(i);
    for (int32_t p = runner.view().first_part(slot); p != kNone; p = runner.view().next_part(p)) {
      EXPECT_EQ(runner.view().part_node(p), runner.view().serial(slot));
    }
  }
}

}  // namespace
}  // namespace yard::testing
