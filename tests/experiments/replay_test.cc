// Which policies may run at which level of information, and what is written about a run.
#include "experiments/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/text.h"
#include "env/trace/core/split_line.h"
#include "experiments/replay/jobs_csv.h"
#include "experiments/replay/load_scenario.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

using ::testing::HasSubstr;

Scenario habits(int jobs) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.cluster = "2x8";
  options.generate_jobs = jobs;
  return load_scenario(options);
}

Scenario of(const std::vector<Job>& jobs, const std::string& cluster) {
  Trace trace;
  trace.source = "jobs.csv";
  trace.jobs = jobs;
  return Scenario(trace, {0, 0, 1000 * kUsPerS, static_cast<int64_t>(jobs.size())},
                  load_cluster(cluster), 1);
}

Job job(const std::string& id, int64_t submit_us, int64_t run_us, int32_t gpus) {
  Job out;
  out.id = id;
  out.submit_us = submit_us;
  out.run_us = run_us;
  out.gpus = gpus;
  return out;
}

std::string refusal(const std::string& policy, const RunOptions& options) {
  try {
    prepare(policy, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Replay, PublishedRulesIgnoreDependencies) {
  std::vector<Job> jobs = {job("1", 0, 100 * kUsPerS, 1), job("2", 0, 10 * kUsPerS, 1)};
  jobs[1].after = {"1"};
  const Scenario scenario = of(jobs, "1x4");
  EXPECT_EQ(run_policy(scenario, "fifo", {}).outcome.jobs[1].start_us, 100 * kUsPerS);
  RunOptions options;
  for (const auto& [rules, policy] : {std::pair{"rlscheduler", "fcfs"}, {"tiresias", "shortest"}}) {
    options.rules = rules;
    EXPECT_EQ(run_policy(scenario, policy, options).outcome.jobs[1].start_us, 0) << rules;
  }
}

TEST(Replay, MoreInformationThanAllowedIsRejected) {
  RunOptions blind;
  blind.information = InformationLevel::kBlind;
  EXPECT_THAT(refusal("srtf", blind), HasSubstr("'srtf', which needs oracle"));
  EXPECT_EQ(refusal("las", blind), "");
  RunOptions estimate;
  estimate.information = InformationLevel::kEstimate;
  EXPECT_THAT(refusal("sjf", estimate), HasSubstr("which needs oracle"));
}

TEST(Replay, NoisyOracleIsWorseThanTheOracle) {
  const Scenario scenario = habits(400);
  RunOptions noisy;
  noisy.information = InformationLevel::kNoisyOracle;
  noisy.oracle_noise = 2;
  const auto exact = run_policy(scenario, "srtf", {});
  const auto fuzzy = run_policy(scenario, "srtf", noisy);
  EXPECT_EQ(exact.level, InformationLevel::kOracle);
  EXPECT_EQ(fuzzy.level, InformationLevel::kNoisyOracle);
  EXPECT_GT(fuzzy.summary.all.sum_jct_us, exact.summary.all.sum_jct_us);
}

TEST(Replay, RuleSetsAcceptTheirOwnPolicyNames) {
  RunOptions options;
  options.rules = "tiresias";
  EXPECT_EQ(prepare("dlas-gpu-8", options).placement, "yarn");
  EXPECT_EQ(prepare("dlas-gpu-0.3", options).level, InformationLevel::kBlind);
  EXPECT_THAT(refusal("dlas-gpu-", options), HasSubstr("'dlas-gpu-'"));
  EXPECT_THAT(refusal("las", options), HasSubstr("policy under rules 'tiresias'"));
  options.placement = "consolidate";
  EXPECT_THAT(refusal("fifo", options), HasSubstr("one of: yarn, count, got 'consolidate'"));
  options.rules = "lucid";
  EXPECT_EQ(prepare("sjf", options).level, InformationLevel::kOracle);
}

TEST(Replay, PlacementComesFromThePolicyOrTheOption) {
  RunOptions options;
  EXPECT_EQ(prepare("las", options).placement, "first-fit");
  options.placement = "consolidate";
  EXPECT_EQ(prepare("las", options).placement, "consolidate");
  options.policy.set("placement", "best-fit", "test");
  EXPECT_EQ(prepare("las", options).placement, "best-fit");
  options.policy = {};
  options.placement = "spread";
  EXPECT_THAT(refusal("las", options), HasSubstr("spread"));
}

TEST(Replay, UnknownNameErrorsListKnownNames) {
  EXPECT_THAT(refusal("nobody", {}), HasSubstr("fifo"));
  RunOptions options;
  options.rules = "nowhere";
  EXPECT_THAT(refusal("fifo", options), HasSubstr("default"));
  options.rules = "tiresias";
  EXPECT_THAT(refusal("greedy", options), HasSubstr("dlas-gpu"));
  options.placement = "first-fit";
  EXPECT_THAT(refusal("fifo", options), HasSubstr("yarn"));
  RunOptions typo;
  typo.policy.set("margni", "1", "--set srtf.margni=1");
  EXPECT_THAT(refusal("srtf", typo), HasSubstr("margni"));
}

// A policy which takes `placement` must declare it: --placement and `tune` go by the fields.
TEST(Replay, EveryPolicyDeclaresItsFields) {
  for (const std::string& name : PolicyRegistry::names()) {
    const std::vector<Field> fields = PolicyRegistry::info(name).fields();
    Settings defaults;
    for (const Field& field : fields) defaults.set(field.key, field.value, "default");
    EXPECT_NO_THROW(PolicyRegistry::make(name, defaults)) << name;
    if (!fields.empty()) continue;
    Settings placement;
    placement.set("placement", "first-fit", "test");
    EXPECT_THROW(PolicyRegistry::make(name, placement), InputError) << name;
  }
}

TEST(Replay, WarmUpAndTailArePlayedButNotCounted) {
  std::vector<Job> jobs(3);
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].id = std::to_string(i);
    jobs[i].gpus = 4;
    jobs[i].run_us = 100 * kUsPerS;
    jobs[i].submit_us = static_cast<int64_t>(i) * 10 * kUsPerS;
    jobs[i].scored = i == 1;
  }
  const Scenario scenario = of(jobs, "1x4");
  const auto run = run_policy(scenario, "fifo", {});
  EXPECT_EQ(run.summary.all.jobs, 1);
  EXPECT_EQ(run.summary.all.sum_jct_us, 190 * kUsPerS);  // it waits for the warm-up job
  EXPECT_EQ(run.outcome.jobs[2].end_us, kNone);          // the replay ends with the last scored job
}

TEST(JobsCsv, RoundTripsTimes) {
  const std::vector<Job> jobs = {job("a-1", 1, 1'500'000, 1), job("b", 2 * kUsPerS, 7'000'001, 4)};
  const Scenario scenario = of(jobs, "1x4");
  const auto run = run_policy(scenario, "fifo", {});
  std::string csv = kJobsHeader;
  append_jobs_csv(scenario, run, csv);
  EXPECT_EQ(csv,
            "policy,job_id,gpus,submit_s,start_s,end_s,wait_s,jct_s,preemptions,restarts,state\n"
            "fifo,a-1,1,0.000001,0.000001,1.500001,0,1.5,0,0,finished\n"
            "fifo,b,4,2,2,9.000001,0,7.000001,0,0,finished\n");
}

TEST(Replay, SignalStopsAtTheNextEvent) {
  const auto interrupted = [] {
    install_interrupt_handler();
    int events = 0;
    RunOptions options;
    options.watch = [&](const SimModel&, const SimState&) {
      if (++events == 1) std::raise(SIGTERM);
    };
    try {
      run_policy(of({job("a", 0, kUsPerS, 1), job("b", 5 * kUsPerS, kUsPerS, 1)}, "1x4"), "fifo",
                 options);
    } catch (const Interrupted&) {
      std::exit(events == 1 ? 0 : 1);
    }
    std::exit(2);
  };
  EXPECT_EXIT(interrupted(), ::testing::ExitedWithCode(0), "");
}

TEST(JobsCsv, AnyIdRoundTrips) {
  const std::string id = "a,\"b\"\nc";
  const Scenario scenario = of({job(id, 0, kUsPerS, 1)}, "1x4");
  std::string row, unquoted;
  append_jobs_csv(scenario, run_policy(scenario, "fifo", {}), row);
  std::vector<std::string_view> cells;
  ASSERT_TRUE(split_quoted(row, ',', unquoted, cells));
  ASSERT_EQ(cells.size(), 11u);
  EXPECT_EQ(cells[1], id);
}

TEST(JobsCsv, RowsAddUpToTheSummary) {
  const Scenario scenario = habits(300);
  for (const std::string policy : {"fifo", "las"}) {
    const auto run = run_policy(scenario, policy, {});
    std::string csv;
    append_jobs_csv(scenario, run, csv);
    int64_t rows = 0, sum_us = 0, preemptions = 0;
    for (const std::string_view line : split(csv, '\n')) {
      if (line.empty()) continue;
      const std::vector<std::string_view> fields = split(line, ',');
      ASSERT_EQ(fields.size(), 11u);
      ++rows;
      const int64_t submit_us = *parse_seconds_us(fields[3]), end_us = *parse_seconds_us(fields[5]);
      EXPECT_EQ(end_us - submit_us, *parse_seconds_us(fields[7]));
      sum_us += *parse_seconds_us(fields[7]);
      preemptions += *parse_int(fields[8]);
    }
    EXPECT_EQ(rows, run.summary.all.jobs);
    EXPECT_EQ(sum_us, run.summary.all.sum_jct_us);
    EXPECT_EQ(preemptions, run.summary.preemptions);
  }
}

TEST(JobsCsv, UnfinishedJobHasARow) {
  const Scenario scenario = of({job("a", 0, kUsPerS, 1)}, "1x4");
  yard::Run run;
  run.policy = "p";
  run.outcome.jobs = {{}};
  std::string csv;
  append_jobs_csv(scenario, run, csv);
  EXPECT_EQ(csv, "p,a,1,0,,,,,0,0,unfinished\n");
}

// Stages: two workers for 100 s, four for 200 s, one for 50 s. On 4 GPUs another job runs during
// the first and the last stage.
TEST(Replay, StagesOfAJobAreReportedAsOneJob) {
  Job staged;
  staged.id = "staged";
  staged.run_us = 100 * kUsPerS;
  staged.gpus = 7;
  staged.groups.resize(3);
  for (size_t g = 0; g < 3; ++g) {
    RoleGroup& group = staged.groups[g];
    group.role = std::to_string(g);
    group.count = std::array{2, 4, 1}[g];
    group.task.gpus = 1;
    if (g > 0) group.after = {static_cast<int32_t>(g) - 1};
  }
  staged.groups[1].run_us = 200 * kUsPerS;
  staged.groups[2].run_us = 50 * kUsPerS;
  Job other;
  other.id = "other";
  other.run_us = 150 * kUsPerS;
  other.gpus = 2;
  Job behind = other;
  behind.id = "behind";
  behind.run_us = 10 * kUsPerS;
  behind.after = {"staged"};
  const Scenario scenario = of({staged, other, behind}, "1x4");
  const yard::Run run = run_policy(scenario, "greedy", {});
  ASSERT_EQ(run.outcome.jobs.size(), 3u);
  EXPECT_EQ(run.outcome.jobs[0].start_us, 0);
  // The second stage waits for the other job until 150 s.
  EXPECT_EQ(run.outcome.jobs[0].end_us, (150 + 200 + 50) * kUsPerS);
  EXPECT_EQ(run.outcome.jobs[0].restarts, 0);
  EXPECT_EQ(run.outcome.jobs[1].end_us, 150 * kUsPerS);
  EXPECT_EQ(run.outcome.jobs[2].start_us, 400 * kUsPerS) << "after the last stage";
  EXPECT_EQ(run.summary.all.finished, 3);
  EXPECT_EQ(run.summary.all.max_wait_s, 400) << "of the job behind";
  std::string rows;
  append_jobs_csv(scenario, run, rows);
  EXPECT_THAT(rows, HasSubstr("greedy,staged,7,0,0,400,50,400,0,0,finished"));

  RunOptions tiresias;
  tiresias.rules = "tiresias";
  try {
    run_policy(scenario, "fifo", tiresias);
    FAIL() << "expected InputError";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("jobs of one stage"));
  }
}

}  // namespace
}  // namespace yard
