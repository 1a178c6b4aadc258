#include "tests/support/replays.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "env/base/core/error.h"
#include "tests/support/step_checker.h"

namespace yard::testing {

Outcome replay(const Scene& scene, const Play& play, std::function<void(const SimState&)> watch) {
  return RuleSetRegistry::make(play.rules, play.settings)
      ->replay({.fixed = scene.fixed(),
                .workload = scene.workload(),
                .first_job = 0,
                .end_job = scene.size(),
                .policy = play.policy,
                .placement = play.placement,
                .settings = {},
                .decider = nullptr,
                .trace = &scene.trace(),
                .watch = std::move(watch)});
}

Outcome replay_checked(const Scene& scene, const Play& play) {
  StepChecker checker(scene.fixed());
  StateHeader last = {};
  const Outcome out = replay(scene, play, [&](const SimState& s) {
    checker.observe(s);
    last = *s.head;
  });
  EXPECT_EQ(checker.broken(), "");
  EXPECT_EQ(last.preemptions, preemptions(out));
  int64_t restarts = 0;
  for (const JobOutcome& job : out.jobs) restarts += job.restarts;
  EXPECT_EQ(last.starts, restarts + scene.size());
  return out;
}

std::string refusal(const Scene& scene, const Play& play) {
  try {
    replay(scene, play);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

int64_t preemptions(const Outcome& outcome) {
  int64_t sum = 0;
  for (const JobOutcome& job : outcome.jobs) sum += job.preemptions;
  return sum;
}

std::string csv_of(const Scene& scene, const Outcome& outcome) {
  std::string csv = "job_id,submit,start,end\n";
  for (size_t j = 0; j < scene.jobs().size(); ++j) {
    const Job& job = scene.jobs()[j];
    const JobOutcome& o = outcome.jobs[j];
    csv += job.id + "," + format_seconds(job.submit_us) + "," + format_seconds(o.start_us) + "," +
           format_seconds(o.end_us) + "\n";
  }
  return csv;
}

std::vector<Job> coarse_jobs(Rng& rng, const CoarseJobs& options) {
  const auto grains = static_cast<uint32_t>(options.grains_s.size());
  const uint32_t grain_s = options.grains_s[rng.below(grains)];
  const auto largest = static_cast<uint32_t>(options.largest);
  const auto count = 5 + rng.below(static_cast<uint32_t>(options.max_jobs) - 5);
  const uint32_t gap = 1 + rng.below(options.gap_s);
  std::vector<JobLine> lines;
  int64_t submit_s = 0;
  for (uint32_t j = 0; j < count; ++j) {
    if (rng.below(4) != 0) submit_s += rng.below(gap) / grain_s * grain_s;
    uint32_t gpus = 1 + rng.below(largest);
    if (options.powers || rng.below(2) == 0) gpus = 1u << rng.below(4);
    gpus = std::min(gpus, largest);
    const uint32_t spread = rng.below(3) == 0 ? 3 * options.spread_s : options.spread_s;
    const uint32_t run_s = rng.below(20) == 0 ? 0 : (1 + rng.below(spread)) / grain_s * grain_s;
    lines.push_back({static_cast<double>(submit_s), static_cast<int32_t>(gpus), double(run_s)});
  }
  return jobs_of(lines);
}

std::vector<reference::SecondsJob> in_seconds(const std::vector<Job>& jobs) {
  std::vector<reference::SecondsJob> out;
  for (const Job& job : jobs) {
    out.push_back({job.submit_us / kSecond, job.run_us / kSecond, job.gpus});
  }
  return out;
}

void expect_same(const Outcome& fast, const std::vector<reference::SecondsOutcome>& slow) {
  ASSERT_EQ(fast.jobs.size(), slow.size());
  for (size_t j = 0; j < slow.size(); ++j) {
    SCOPED_TRACE("job " + std::to_string(j));
    ASSERT_GE(slow[j].end_s, 0) << "the reference simulator leaves it waiting";
    ASSERT_EQ(fast.jobs[j].start_us, slow[j].start_s * kSecond);
    ASSERT_EQ(fast.jobs[j].end_us, slow[j].end_s * kSecond);
    ASSERT_EQ(fast.jobs[j].preemptions, slow[j].preemptions);
    ASSERT_EQ(fast.jobs[j].restarts, slow[j].starts - 1);
  }
}

}  // namespace yard::testing
