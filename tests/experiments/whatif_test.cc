// Comparing policies on a log, by hand: jobs which would wait longer are listed even if the mean
// improves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/whatif/groups.h"
#include "experiments/whatif/json.h"
#include "experiments/whatif/page.h"
#include "experiments/whatif/text.h"
#include "tests/support/seconds.h"

namespace yard::whatif {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

JobTimes waits(int64_t wait_us) { return {wait_us, wait_us + 100 * kUsPerS}; }

// Adds jobs which wait `from_us` in the log and under the baseline, `to_us` under the candidate.
void add(std::vector<ComparedJob>& jobs, int count, int32_t gpus, int64_t from_us, int64_t to_us,
         const std::string& user = "ada", const std::string& partition = "gpu") {
  for (int i = 0; i < count; ++i) {
    jobs.push_back({gpus, user, partition, waits(from_us), {waits(from_us), waits(to_us)}});
  }
}

Comparison of(const std::vector<ComparedJob>& jobs) {
  return compare_with_baseline(jobs, {{.name = "site"}, {.name = "other"}});
}

std::vector<std::string> listed_sizes(const std::vector<ComparedJob>& jobs) {
  const Comparison comparison = of(jobs);
  const std::vector<Verdict> verdicts = verdicts_of(comparison);
  std::vector<std::string> out;
  for (const Row* row : verdicts[0].sizes) out.push_back(row->name);
  return out;
}

std::string verdict(const std::vector<ComparedJob>& jobs) {
  return verdicts_of(of(jobs))[0].text();
}

TEST(WhatifCompare, GroupsJobsBySize) {
  std::vector<ComparedJob> jobs;
  for (const int32_t gpus : {0, 1, 2, 4, 5, 8, 9, 16, 17, 33, 2000})
    add(jobs, 1, gpus, kUsPerS, kUsPerS);
  add(jobs, 20, 24, kUsPerS, kUsPerS);
  add(jobs, 19, 32, kUsPerS, kUsPerS);
  std::vector<std::string> names;
  std::vector<int64_t> counts;
  const Comparison comparison = of(jobs);
  for (const Row& row : comparison.by_size.rows) {
    names.push_back((row.single_size ? "=" : "") + row.name);
    counts.push_back(row.jobs);
  }
  EXPECT_THAT(names, ElementsAre("0", "1", "2-4", "5-8", "9-16", "17-32", "=24", "33", "2000"));
  EXPECT_THAT(counts, ElementsAre(1, 1, 2, 2, 2, 40, 20, 1, 1));
}

TEST(WhatifCompare, ComputesEveryFigure) {
  std::vector<ComparedJob> jobs;
  for (int i = 1; i <= 100; ++i) add(jobs, 1, 1, i * kUsPerS, 2 * i * kUsPerS);
  const Comparison comparison = of(jobs);
  const WaitFigures& f = comparison.all.by[1];
  EXPECT_EQ(f.jobs, 100);
  EXPECT_DOUBLE_EQ(f.mean_wait_s, 101);
  EXPECT_EQ(f.p50_wait_s, 100);
  EXPECT_EQ(f.p90_wait_s, 180);
  EXPECT_EQ(f.p99_wait_s, 198);
  EXPECT_EQ(f.max_wait_s, 200);
  EXPECT_DOUBLE_EQ(f.mean_jct_s, 201);
  EXPECT_DOUBLE_EQ(comparison.all.changes[1].ratio, 2);
  EXPECT_DOUBLE_EQ(comparison.all.changes[1].longest_wait_ratio(), 2);
  EXPECT_DOUBLE_EQ(comparison.logged_ratio, 1);
}

// Over 10 % means strictly over, computed without the rounding of a double.
TEST(WhatifVerdict, NamesIncreasesOverTenPercent) {
  std::vector<ComparedJob> jobs;
  add(jobs, 500, 1, 1000 * kUsPerS, 100 * kUsPerS);
  EXPECT_THAT(listed_sizes(jobs), ElementsAre());
  auto with = [&](int count, int64_t from_us, int64_t to_us) {
    std::vector<ComparedJob> more = jobs;
    add(more, count, 64, from_us, to_us);
    return listed_sizes(more);
  };
  EXPECT_THAT(with(20, 10 * kUsPerS, 11 * kUsPerS), ElementsAre()) << "10 % itself";
  EXPECT_THAT(with(20, 10 * kUsPerS, 11 * kUsPerS + 1), ElementsAre("64")) << "a microsecond more";
  EXPECT_THAT(with(19, 10 * kUsPerS, 20 * kUsPerS), ElementsAre()) << "too few jobs";
  EXPECT_THAT(with(20, 0, 1), ElementsAre("64")) << "from 0";
  EXPECT_THAT(with(20, 0, 0), ElementsAre());
  EXPECT_THAT(with(20, 3, 3), ElementsAre()) << "ties";
}

TEST(WhatifVerdict, NamesASizeHiddenByItsRange) {
  std::vector<ComparedJob> jobs;
  add(jobs, 100, 32, 1000 * kUsPerS, 100 * kUsPerS);
  add(jobs, 20, 24, 100 * kUsPerS, 310 * kUsPerS);
  EXPECT_THAT(listed_sizes(jobs), ElementsAre("24"));
  EXPECT_THAT(verdict(jobs),
              HasSubstr("jobs of exactly 24 GPUs (3.10 times, 100 s to 310 s, 20 jobs)"));
}

TEST(WhatifVerdict, NamesALongerMaximumDespiteABetterMean) {
  std::vector<ComparedJob> jobs;
  add(jobs, 200, 1, 1000 * kUsPerS, 500 * kUsPerS);
  add(jobs, 1, 1, 59'171 * kUsPerS, 144'311 * kUsPerS);
  const std::string said = verdict(jobs);
  EXPECT_THAT(said, HasSubstr("The longest wait grows from 59,171 s to 144,311 s (2.44 times)"));
  EXPECT_THAT(verdicts_of(of(jobs))[0].headline,
              HasSubstr("the longest wait would grow from 59,171 s to 144,311 s"));
  jobs.back() = {1, "ada", "gpu", {}, {waits(50'000 * kUsPerS), waits(55'000 * kUsPerS)}};
  EXPECT_THAT(verdict(jobs), HasSubstr("The longest wait grows by at most 10 %."));
}

TEST(WhatifVerdict, CountsUsersAndNamesPartitions) {
  std::vector<ComparedJob> jobs;
  add(jobs, 100, 1, 1000 * kUsPerS, 100 * kUsPerS, "ada", "short");
  add(jobs, 30, 1, 100 * kUsPerS, 200 * kUsPerS, "grace", "long");
  add(jobs, 3, 1, 100 * kUsPerS, 300 * kUsPerS, "alan", "tiny");
  const Comparison comparison = of(jobs);
  const Verdict verdict = verdicts_of(comparison)[0];
  EXPECT_EQ(verdict.users, 2);
  EXPECT_EQ(verdict.large_users, 1);
  EXPECT_EQ(verdict.user->name, "grace") << "3,000 s more in all, alan's 600 s";
  EXPECT_THAT(
      verdict.text(),
      HasSubstr("2 of 3 users, 1 of them with at least 20 jobs, with the largest total increase "
                "for user grace (2.00 times, 100 s to 200 s, 30 jobs)"));
  EXPECT_THAT(verdict.text(), HasSubstr("1 of 3 partitions: long (2.00 times"));
  EXPECT_TRUE(verdict.sizes.empty());
}

TEST(WhatifVerdict, UsesTheSingularForOneUserOrPartition) {
  std::vector<ComparedJob> jobs;
  add(jobs, 100, 1, 1000 * kUsPerS, 100 * kUsPerS, "ada", "gpu");
  add(jobs, 30, 8, 100 * kUsPerS, 200 * kUsPerS, "grace", "gpu");
  const Comparison two = of(jobs);
  EXPECT_THAT(verdicts_of(two)[0].text(),
              HasSubstr("1 of 2 users: user grace (2.00 times, 100 s to 200 s, 30 jobs)"));
  jobs.clear();
  add(jobs, 30, 8, 100 * kUsPerS, 200 * kUsPerS, "grace", "gpu");
  const Comparison one = of(jobs);
  EXPECT_THAT(verdicts_of(one)[0].text(), HasSubstr("the only user: user grace (2.00 times"));
  EXPECT_THAT(verdicts_of(one)[0].text(), HasSubstr("the only partition: gpu (2.00 times"));
}

TEST(WhatifVerdict, UsesTheSingularForOneGpuStopOrJob) {
  std::vector<ComparedJob> jobs;
  add(jobs, 30, 1, 100 * kUsPerS, 200 * kUsPerS);
  Comparison comparison = of(jobs);
  EXPECT_THAT(verdicts_of(comparison)[0].headline,
              HasSubstr("but jobs of 1 GPU, the only user and the only partition would"));
  Candidate& stops = comparison.candidates[1];
  stops.needs_checkpointing = true;
  stops.preemptions = stops.preempted_jobs = 1;
  EXPECT_THAT(verdicts_of(comparison)[0].text(), HasSubstr("it preempted 1 job, 1 time in all."));
  stops.preemptions = 1200;
  stops.preempted_jobs = 30;
  EXPECT_THAT(verdicts_of(comparison)[0].text(),
              HasSubstr("it preempted 30 jobs, 1,200 times in all."));
  add(jobs = {}, 1, 1, 100 * kUsPerS, 200 * kUsPerS);
  const Comparison one = of(jobs);
  EXPECT_THAT(text_of(one, verdicts_of(one), {"log", "1x1", {}}),
              HasSubstr("log: 1 job with a logged start"));
}

TEST(WhatifVerdict, KeepsTheDigitsOfASmallRatioToTheLog) {
  std::vector<ComparedJob> jobs;
  add(jobs, 30, 1, 4 * kUsPerS, 4 * kUsPerS);
  for (ComparedJob& job : jobs) job.logged = waits(1000 * kUsPerS);
  EXPECT_THAT(baseline_fit_text(of(jobs)),
              HasSubstr("simulated mean wait 0.004 times the logged one. Logged jobs"));
  for (ComparedJob& job : jobs) job.logged = waits(kUsPerS);
  EXPECT_THAT(baseline_fit_text(of(jobs)),
              HasSubstr("mean wait 4.00 times the logged one. The site had more capacity"));
}

TEST(WhatifVerdict, StatesThatNothingWaitsLonger) {
  std::vector<ComparedJob> jobs;
  add(jobs, 100, 1, 1000 * kUsPerS, 100 * kUsPerS);
  EXPECT_THAT(
      verdict(jobs),
      HasSubstr(
          "No size class or partition of at least 20 jobs and no user waits over 10 % longer. "
          "The longest wait grows by at most 10 %."));
  for (ComparedJob& job : jobs) job.by[1] = job.by[0];
  EXPECT_EQ(verdict(jobs), "other instead of site: every job has the same wait as under site.");
}

TEST(WhatifVerdict, CountsSmallClassesThatWaitLonger) {
  std::vector<ComparedJob> jobs;
  add(jobs, 100, 1, 1000 * kUsPerS, 100 * kUsPerS);
  add(jobs, 5, 64, 10 * kUsPerS, 50 * kUsPerS);
  const Comparison comparison = of(jobs);
  const Verdict said = verdicts_of(comparison)[0];
  EXPECT_EQ(said.small_classes, 1);
  EXPECT_THAT(said.headline, HasSubstr(", and no size class or partition of at least 20 jobs waits "
                                       "over 10 % longer (1 smaller class would)."));
  EXPECT_THAT(said.text(),
              HasSubstr("Of the classes with fewer than 20 jobs, 1 would wait over 10 % longer."));
}

TEST(WhatifVerdict, MakesNoClaimAboutUnnamedUsers) {
  std::vector<ComparedJob> jobs;
  add(jobs, 100, 1, 1000 * kUsPerS, 100 * kUsPerS, "", "");
  EXPECT_THAT(verdict(jobs), HasSubstr("No size class of at least 20 jobs waits over 10 % longer"));
  add(jobs, 1, 1, 2000 * kUsPerS, 9000 * kUsPerS, "", "");
  const std::string said = verdict(jobs);
  EXPECT_THAT(said, HasSubstr("On average no size class of at least 20 jobs waits over"));
  EXPECT_THAT(said, Not(HasSubstr("user")));
  EXPECT_THAT(said, Not(HasSubstr("partition")));
}

TEST(WhatifVerdict, HandlesALogWithoutWaits) {
  std::vector<ComparedJob> jobs;
  add(jobs, 30, 1, 5 * kUsPerS, 5 * kUsPerS);
  for (ComparedJob& job : jobs) job.logged = waits(0);
  const std::string said = baseline_fit_text(of(jobs));
  EXPECT_THAT(said, HasSubstr("no job waited in the log"));
  EXPECT_THAT(said, HasSubstr("the simulated mean wait is 5 s."));
}

TEST(WhatifVerdict, HandlesAMissingRatio) {
  std::vector<ComparedJob> jobs;
  add(jobs, 30, 1, 0, 5 * kUsPerS);
  const std::string said = verdict(jobs);
  EXPECT_THAT(said, HasSubstr("mean wait 5 s, while no job waits under site (no ratio)"));
  EXPECT_THAT(said, HasSubstr("1 GPU (from 0, 0 s to 5 s, 30 jobs)"));
  EXPECT_THAT(said, Not(HasSubstr("nan")));
  EXPECT_THAT(said, Not(HasSubstr("inf")));
}

TEST(WhatifVerdict, IsInconclusiveWithoutEnoughBlocksOfTime) {
  std::vector<ComparedJob> jobs;
  add(jobs, 200, 1, 100 * kUsPerS, 50 * kUsPerS);
  Comparison few = of(jobs);
  EXPECT_FALSE(few.all.changes[1].conclusive);
  EXPECT_THAT(verdicts_of(few)[0].text(),
              HasSubstr("inconclusive: 5 independent blocks of time, 6"));
  // Blocks of 40 jobs which scatter around one half; each second class has too few of them.
  jobs.clear();
  for (int i = 0; i < 960; ++i) {
    add(jobs, 1, i < 30 ? 8 : 1, 100 * kUsPerS, (i / 40 % 2 == 0 ? 45 : 55) * kUsPerS);
  }
  const Comparison many = of(jobs);
  const Change& change = many.all.changes[1];
  EXPECT_TRUE(change.conclusive);
  EXPECT_NEAR(change.ratio, 0.5, 1e-9);
  EXPECT_LT(change.interval.lo, 0.5);
  EXPECT_GT(change.interval.hi, 0.5);
  EXPECT_GT(change.interval.lo, 0.45);
  EXPECT_LT(change.interval.hi, 0.55);
  EXPECT_FALSE(many.by_size.rows.back().changes[1].conclusive) << "30 jobs of one block";
}

// A block without waits has no ratio of its own; the overall interval exists all the same.
TEST(WhatifVerdict, AcceptsBlocksWithoutWaits) {
  std::vector<ComparedJob> jobs;
  for (int i = 0; i < 960; ++i) {
    const int block = i / 40;
    const int64_t wait = block % 3 == 0 ? 0 : (100 + 7 * (block % 5)) * kUsPerS;
    add(jobs, 1, 1, wait, block % 7 == 1 ? 0 : wait / 2);
  }
  const Change change = of(jobs).all.changes[1];
  EXPECT_TRUE(change.conclusive);
  EXPECT_TRUE(std::isfinite(change.interval.lo) && std::isfinite(change.interval.hi));
  EXPECT_LT(change.interval.lo, change.ratio);
  EXPECT_GT(change.interval.hi, change.ratio);
}

// Otherwise a candidate would gain by starving jobs.
TEST(WhatifVerdict, IsWithheldIfJobsDidNotEnd) {
  std::vector<ComparedJob> jobs;
  add(jobs, 100, 1, 100 * kUsPerS, 10 * kUsPerS);
  add(jobs, 20, 8, 10 * kUsPerS, 100 * kUsPerS);
  jobs[7].by[1] = {};
  const Comparison comparison = of(jobs);
  EXPECT_EQ(comparison.all.by[1].unfinished, 1);
  EXPECT_EQ(comparison.all.changes[1].jobs, 119);
  EXPECT_FALSE(std::isfinite(comparison.all.changes[1].ratio));
  const std::vector<Verdict> verdicts = verdicts_of(comparison);
  EXPECT_EQ(verdicts[0].headline, "other instead of site: no verdict: 1 job did not end.");
  EXPECT_THAT(verdicts[0].text(), HasSubstr("no verdict: 1 job did not end"));
  EXPECT_EQ(headline_verdict(comparison, verdicts), nullptr);
  EXPECT_THAT(text_of(comparison, verdicts, {"log.txt", "1x8", {}}),
              HasSubstr("n/a (1 unfinished)"));
}

// Jobs which do not end under the baseline are reported, not dropped silently.
TEST(WhatifVerdict, CountsUnfinishedJobsOfTheBaseline) {
  std::vector<ComparedJob> jobs;
  add(jobs, 21, 1, 100 * kUsPerS, 100 * kUsPerS);
  add(jobs, 21, 8, 10 * kUsPerS, 100 * kUsPerS);
  jobs[0].by[0] = jobs[40].by[0] = jobs[41].by[0] = {};
  const std::string said = verdict(jobs);
  EXPECT_THAT(said, HasSubstr("3 jobs did not end under site and are excluded from all ratios."));
  EXPECT_THAT(said, Not(HasSubstr("jobs of 8 GPUs"))) << "19 comparable jobs";
}

TEST(WhatifVerdict, RoundingNeverCrossesALimit) {
  EXPECT_EQ(ratio_text(0.594), "0.59");
  EXPECT_EQ(ratio_text(1.1), "1.10");
  EXPECT_EQ(ratio_text(1.1003), "1.1003");
  EXPECT_EQ(ratio_text(1.0999), "1.10");
  EXPECT_EQ(ratio_text(0.9999), "0.9999");
  EXPECT_EQ(ratio_text(0.0042), "0.004");
  EXPECT_EQ(ratio_text(0.00004), "0.00004");
  EXPECT_EQ(ratio_text(23.41), "23.4");
  EXPECT_EQ(ratio_text(NAN), "n/a");
  EXPECT_EQ(interval_text({0.97, 1.103}, ", "), "0.970, 1.103");
  EXPECT_EQ(interval_text({0.41, 0.86}, " to "), "0.41 to 0.86");
  EXPECT_EQ(interval_text({0.97, NAN}, ", "), "n/a");
  EXPECT_EQ(seconds_text(59171.4), "59,171 s");
  EXPECT_EQ(seconds_text(0.52), "0.5 s");
}

TEST(WhatifGroups, SeparatePreemptionAndKnownRunTimes) {
  Comparison comparison;
  comparison.candidates = {{.name = "site", .needs_checkpointing = true},
                           {.name = "las", .needs_checkpointing = true},
                           {.name = "greedy"},
                           {.name = "srtf", .knows_run_times = true, .needs_checkpointing = true}};
  const std::vector<RequirementGroup> groups = group_candidates_by_requirement(comparison);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_THAT(groups[0].candidates, ElementsAre(0, 2)) << "the site's policy stays first";
  EXPECT_THAT(groups[1].heading, HasSubstr("need checkpointing"));
  EXPECT_THAT(groups[1].candidates, ElementsAre(1));
  EXPECT_EQ(groups[2].heading, "oracles, which see true run times (for comparison only)");
  comparison.no_bound = "elastic jobs";
  EXPECT_THAT(group_candidates_by_requirement(comparison)[2].heading,
              HasSubstr("not bounds because of elastic jobs"));
}

TEST(WhatifGroups, PageStartsWithDeployablePolicies) {
  std::vector<ComparedJob> jobs;
  for (int i = 0; i < 30; ++i) {
    jobs.push_back(
        {1,
         "",
         "",
         {},
         {waits(100 * kUsPerS), waits(90 * kUsPerS), waits(50 * kUsPerS), waits(10 * kUsPerS)}});
  }
  const Comparison comparison =
      compare_with_baseline(jobs, {{.name = "site"},
                                   {.name = "greedy"},
                                   {.name = "las", .needs_checkpointing = true},
                                   {.name = "srtf", .knows_run_times = true}});
  const std::vector<Verdict> verdicts = verdicts_of(comparison);
  EXPECT_EQ(headline_verdict(comparison, verdicts)->candidate, 1u);
  EXPECT_THAT(verdicts[1].text(), HasSubstr("needs checkpointing"));
  EXPECT_THAT(verdicts[2].text(), HasSubstr("for comparison only"));
}

TEST(WhatifPrinting, TextAndJsonHaveTheSameVerdict) {
  std::vector<ComparedJob> jobs;
  add(jobs, 100, 1, 1000 * kUsPerS, 100 * kUsPerS, "a|<b>");
  add(jobs, 30, 64, 100 * kUsPerS, 200 * kUsPerS, "");
  const Comparison comparison = of(jobs);
  const std::vector<Verdict> verdicts = verdicts_of(comparison);
  const std::string text = text_of(comparison, verdicts, {"log.txt", "4x8", {"no users"}});
  EXPECT_LT(text.find("- no users"), text.find("mean wait s")) << "before the figures";
  EXPECT_THAT(text, HasSubstr("LONGER"));
  nlohmann::ordered_json json;
  add_json(comparison, verdicts, {"no users"}, json);
  EXPECT_EQ(json["verdicts"][0]["text"], verdicts[0].text());
  EXPECT_EQ(json["verdicts"][0]["longer_sizes"], nlohmann::ordered_json({"64"}));
  EXPECT_EQ(json["by_size"][1]["policies"][1]["ratio"], 2.0);
  EXPECT_EQ(json["runs"][0]["wait_ratio_to_logged"], 1.0);
  EXPECT_FALSE(json["runs"][0].contains("ratio")) << "the baseline has no comparison with itself";
}

TEST(WhatifPrinting, PageStartsWithTheVerdictAndEndsWithItsSource) {
  std::vector<ComparedJob> jobs;
  add(jobs, 100, 1, 1000 * kUsPerS, 100 * kUsPerS, "a|<b>");
  add(jobs, 30, 64, 100 * kUsPerS, 200 * kUsPerS, "");
  const Comparison comparison = of(jobs);
  const std::vector<Verdict> verdicts = verdicts_of(comparison);
  const std::string page =
      page_of(comparison, verdicts, jobs,
              {"log.txt", "4x8", {"no <limits>"}, {{"sha256", "abc"}, {"from", ""}}});
  const size_t headline = page.find("<h1>other instead of site: mean wait");
  ASSERT_NE(headline, page.npos);
  EXPECT_LT(headline, page.find("Limitations of the log"));
  EXPECT_LT(page.find("Limitations of the log"), page.find("<h2>All jobs"));
  EXPECT_LT(page.find("<h2>By user"), page.find("<h2>Provenance"));
  EXPECT_THAT(page, HasSubstr("a|&lt;b&gt;"));
  EXPECT_THAT(page, HasSubstr("no &lt;limits&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr(">nan")));
  EXPECT_THAT(page, HasSubstr("<svg class='chart'"));
  EXPECT_THAT(page, HasSubstr("@media print"));
}

}  // namespace
}  // namespace yard::whatif
