// The rule set `gavel` against the results of the original program, and against a slow simulator of
// the same rules. Workloads, throughputs and clusters are random.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/sim/placement/fits.h"
#include "env/sim/rulesets/gavel_fifo.h"
#include "env/sim/rulesets/rule_set.h"
#include "env/trace/formats/load_trace.h"
#include "env/trace/profiles/fill_run_times.h"
#include "env/trace/profiles/throughputs.h"
#include "tests/reference/gavel_reference.h"
#include "tests/support/measurements.h"
#include "tests/support/require.h"
#include "tests/support/scene.h"
#include "tests/support/step_checker.h"

namespace yard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Outcome replay_gavel(const Scene& scene, const std::string& throughputs,
                     const reference::GavelSettings& rules = {},
                     std::function<void(const SimState&)> watch = nullptr) {
  Settings settings;
  settings.set("throughputs", throughputs, "test");
  settings.set("round_s", std::to_string(rules.round_s), "test");
  settings.set("recompute_s", std::to_string(rules.recompute_s), "test");
  settings.set("seed", std::to_string(rules.seed), "test");
  return RuleSetRegistry::make("gavel", settings)
      ->replay({.fixed = scene.fixed(),
                .workload = scene.workload(),
                .first_job = 0,
                .end_job = scene.size(),
                .policy = "fifo",
                .placement = {},
                .settings = {},
                .trace = &scene.trace(),
                .cluster = &scene.cluster(),
                .watch = std::move(watch)});
}

struct GavelTotals {
  const char* trace;  // relative to the folder of traces
  const char* cluster;
  uint32_t seed;
  double sum_jct_s, last_end_s;
  int64_t preemptions;
  int dropped;
};

// The first is the original's result. The others come from a reimplementation of its steps which
// uses Python's own dictionaries, heap and random numbers.
const GavelTotals kGavelTotals[] = {
    {"../xval/gavel-mm1.trace", "1x4:v100", 0, 54397.143 * 59, 151868.901, 0, 0},
    {"gavel/traces-physical/max_min_fairness.trace.gz", "4x4:v100", 0, 3729819.986, 103631.411, 319,
     0},
    {"gavel/traces-physical/minimize_makespan.trace.gz", "1x7", 0, 16183568.891, 370033.321, 729,
     0},
    {"gavel/traces-physical/max_min_fairness.trace.gz", "2x4:v100+1x8:p100+8x1:k80", 1, 4590151.760,
     204844.141, 1387, 0},
    {"gavel/traces-physical/max_min_fairness.trace.gz", "2x4:v100+1x8:p100+8x1:k80", 2, 4525807.438,
     238241.196, 1427, 0},
    {"gavel/traces-msr-seed0/e13805.trace.gz", "2x8:v100", 0, 177721828.204, 8485574.763, 11523, 1},
};

TEST(Gavel, TotalsOfPublishedTracesMatch) {
  YARD_NEEDS_XVAL();
  const std::string file = traces_dir() / "gavel/simulation_throughputs.json.gz";
  for (const GavelTotals& p : kGavelTotals) {
    SCOPED_TRACE(std::string(p.trace) + " on " + p.cluster);
    Trace trace = load_trace((traces_dir() / p.trace).string(), {});
    fill_run_times(trace, {.throughputs = file, .rates = ""}, true);
    check_jobs_fit_cluster(trace, load_cluster(p.cluster), true);
    const Scene scene(p.cluster, trace.jobs);
    const Outcome outcome = replay_gavel(scene, file, {.seed = p.seed});
    double sum_s = 0, last_s = 0;
    int64_t preemptions = 0;
    int dropped = 0;
    for (size_t j = 0; j < trace.jobs.size(); ++j) {
      const JobOutcome& what = outcome.jobs[j];
      preemptions += what.preemptions;
      dropped += what.end_us == kNone;
      if (what.end_us == kNone) continue;
      sum_s += static_cast<double>(what.end_us - trace.jobs[j].submit_us) / 1e6;
      last_s = std::max(last_s, static_cast<double>(what.end_us) / 1e6);
    }
    // Printed with three decimals, as is the average over 59 jobs.
    EXPECT_NEAR(sum_s, p.sum_jct_s, p.preemptions == 0 ? 0.0005 * 59 : 0.001);
    EXPECT_NEAR(last_s, p.last_end_s, 0.00051);
    EXPECT_EQ(preemptions, p.preemptions);
    EXPECT_EQ(dropped, p.dropped);
  }
}

TEST(Gavel, RandomDrawsMatchPython) {
  // random.Random(seed).randrange(n), from Python 3.11.
  struct Draw {
    uint32_t seed, n;
    std::vector<uint32_t> drawn;
  };
  for (const Draw& draw : {Draw{0, 3, {1, 1, 0, 1, 2, 1, 1, 1, 1, 1, 2, 0}},
                           Draw{12345, 5, {3, 0, 2, 2, 1, 2, 4, 3, 1, 2, 0, 3}},
                           Draw{4294967295, 7, {5, 4, 1, 1, 4, 4, 2, 4, 2, 3, 5, 5}},
                           Draw{0, 1'000'000, {885440, 403958, 794772, 933488}}}) {
    PythonRandom random(draw.seed);
    for (const uint32_t expected : draw.drawn) EXPECT_EQ(random.below(draw.n), expected);
    EXPECT_EQ(reference::python_randrange(draw.seed, draw.n, static_cast<int>(draw.drawn.size())),
              draw.drawn);
  }
  PythonRandom random(7);
  const std::vector<uint32_t> many = reference::python_randrange(7, 3, 3000);
  for (const uint32_t expected : many) ASSERT_EQ(random.below(3), expected);
}

// --- against the slow simulator

struct GavelWorld {
  std::string cluster;
  std::map<std::string, int> workers;
};

const std::vector<GavelWorld> kGavelWorlds = {
    {"1x4", {{"v100", 4}}},
    {"2x8:v100", {{"v100", 16}}},
    {"3x1:k80", {{"k80", 3}}},
    {"1x4:v100+1x4:p100+2x2:k80", {{"v100", 4}, {"p100", 4}, {"k80", 4}}},
    {"1x2:p100+1x6:k80+1x2:p100", {{"p100", 4}, {"k80", 6}}}};

struct GavelCase {
  std::vector<Job> jobs;
  std::vector<reference::GavelJob> plain;
  std::string json;
  reference::GavelSettings rules;
};

// Throughputs take few simple values and arrivals are coarse, so that shares, deficits and ends
// tie. Job lengths are often slightly above whole rounds.
GavelCase random_gavel_case(Rng& rng, const GavelWorld& world) {
  GavelCase c;
  c.rules.seed = rng.below(5);
  if (rng.below(2) == 0) c.rules = {.round_s = 61, .recompute_s = 200, .seed = c.rules.seed};
  const std::vector<std::string> models = {"A", "B (batch size 2)", "C"};
  std::map<std::string, std::map<Throughputs::Kind, double>> table;
  for (const char* type : {"k80", "p100", "v100"}) {
    for (const std::string& model : models) {
      for (int gpus = 1; gpus <= 16; ++gpus) {
        const bool never = world.workers.size() > 1 && rng.below(30) == 0;
        const double rates[] = {0.25, 0.5, 1, 1.7, 3};
        table[type][{model, gpus}] = never ? 0 : rates[rng.below(5)];
      }
    }
  }
  c.json = "{";
  for (const auto& [type, kinds] : table) {
    c.json += (c.json == "{" ? "\"" : ", \"") + type + "\": {";
    bool first = true;
    for (const auto& [kind, rate] : kinds) {
      c.json += (first ? "\"" : ", \"") + Throughputs::text_of(kind) +
                "\": {\"null\": " + shortest_text(rate) + "}";
      first = false;
    }
    c.json += "}";
  }
  c.json += "}";

  int largest = 0;
  for (const auto& [type, count] : world.workers) largest = std::max(largest, count);
  const auto count = 2 + rng.below(40);
  const uint32_t gap_s = 1 + rng.below(3000);
  double at_s = rng.below(2) == 0 ? 0 : rng.below(5000);
  std::vector<JobLine> lines;
  for (uint32_t j = 0; j < count; ++j) {
    if (rng.below(3) != 0) at_s += rng.below(gap_s) / 10 * 10 + (rng.below(5) == 0 ? 0.25 : 0);
    uint32_t gpus = 1u << rng.below(4);
    if (rng.below(4) == 0) gpus = 1 + rng.below(static_cast<uint32_t>(largest));
    lines.push_back({at_s, std::min(static_cast<int32_t>(gpus), largest), 1});
  }
  c.jobs = jobs_of(lines);
  for (Job& job : c.jobs) {
    const std::string& model = models[rng.below(3)];
    job.model = model.substr(0, 1);
    if (model.size() > 1) job.batch_size = 2;
    const auto rounds = static_cast<uint32_t>(rng.below(20));
    job.iterations = rounds * 360 + 1 + rng.below(rng.below(2) == 0 ? 20 : 2000);
    reference::GavelJob plain;
    plain.arrival_s = static_cast<double>(job.submit_us) / 1e6;
    plain.steps = static_cast<int64_t>(job.iterations);
    plain.gpus = job.gpus;
    for (const auto& [type, kinds] : table) {
      plain.steps_per_s[type] = kinds.at(Throughputs::kind_of(job));
    }
    c.plain.push_back(plain);
  }
  return c;
}

TEST(Gavel, MatchesTheReferenceSimulator) {
  int64_t preemptions = 0;
  int dropped = 0, stuck = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng{seed}.split(3);
    const GavelWorld& world = kGavelWorlds[rng.below(static_cast<uint32_t>(kGavelWorlds.size()))];
    SCOPED_TRACE(world.cluster);
    const GavelCase c = random_gavel_case(rng, world);
    const Scene scene(world.cluster, c.jobs);
    const std::string file = written("throughputs.json", c.json);
    const auto slow = reference::gavel(c.plain, world.workers, c.rules);
    StepChecker checker(scene.fixed());
    if (slow.empty()) {
      EXPECT_ANY_THROW(replay_gavel(scene, file, c.rules, checker.watcher()));
      ++stuck;
      continue;
    }
    const Outcome fast = replay_gavel(scene, file, c.rules, checker.watcher());
    ASSERT_EQ(checker.broken(), "");
    for (size_t j = 0; j < c.jobs.size(); ++j) {
      SCOPED_TRACE("job " + std::to_string(j));
      const JobOutcome& what = fast.jobs[j];
      const auto us = [](double s) { return std::llround(s * 1e6); };
      ASSERT_EQ(what.start_us, us(slow[j].start_s));
      ASSERT_EQ(what.end_us, slow[j].end_s < 0 ? kNone : us(slow[j].end_s));
      ASSERT_EQ(what.preemptions, slow[j].stops);
      preemptions += what.preemptions;
      dropped += what.end_us == kNone;
    }
  }
  // Otherwise the cases would not cover over-allocated GPU types and dropped jobs.
  EXPECT_GT(preemptions, 1000);
  EXPECT_GT(dropped, 10);
  EXPECT_LT(stuck, 100);
}

// --- by hand

using Rates = std::map<int, double>;  // steps a second of model "A" by number of GPUs

std::string file_of(const std::map<std::string, Rates>& types) {
  std::string json;
  for (const auto& [type, rates] : types) {
    json += (json.empty() ? "{\"" : ", \"") + type + "\": {";
    std::string kinds;
    for (const auto& [gpus, rate] : rates) {
      kinds += (kinds.empty() ? "\"" : ", \"") + Throughputs::text_of({"A", gpus}) +
               "\": {\"null\": " + shortest_text(rate) + "}";
    }
    json += kinds + "}";
  }
  return written("throughputs.json", json + "}");
}

std::vector<Job> with_steps(std::vector<Job> jobs, const std::vector<int>& steps) {
  for (size_t j = 0; j < jobs.size(); ++j) {
    jobs[j].model = "A";
    jobs[j].iterations = steps[j];
  }
  return jobs;
}

TEST(Gavel, FreedGpusStayIdleUntilTheNextAllocation) {
  // a and b run from 10; a ends at 110, inside the round which ends with b's 360 steps at 370. c
  // waits until 1920 s have passed since 10: the next round's end is at 2170.
  const Scene scene("1x2",
                    with_steps(jobs_of({{10, 1, 1}, {10, 1, 1}, {20, 1, 1}}), {100, 3000, 100}));
  const Outcome outcome = replay_gavel(scene, file_of({{"v100", {{1, 1}}}}));
  EXPECT_EQ(outcome.jobs[0].end_us, 110 * kSecond);
  EXPECT_EQ(outcome.jobs[1].end_us, 3010 * kSecond);
  EXPECT_EQ(outcome.jobs[2].start_us, 2170 * kSecond);
  EXPECT_EQ(outcome.jobs[2].end_us, 2270 * kSecond);
  EXPECT_EQ(outcome.held_time_us, (100 + 3000 + 100) * kSecond);
}

TEST(Gavel, JobWithFewerLastStepsThanGpusIsDropped) {
  const Scene scene("1x2", with_steps(jobs_of({{0, 2, 1}, {5, 1, 1}}), {361, 10}));
  const Outcome outcome = replay_gavel(scene, file_of({{"v100", {{1, 1}, {2, 1}}}}));
  EXPECT_EQ(outcome.jobs[0].start_us, 0);
  EXPECT_EQ(outcome.jobs[0].end_us, kNone);
  EXPECT_NE(outcome.jobs[1].end_us, kNone);
}

std::string refusal(const std::string& cluster, const std::vector<Job>& jobs,
                    const std::string& file) {
  const Scene scene(cluster, jobs);
  try {
    replay_gavel(scene, file);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Gavel, MissingThroughputsAreNamed) {
  const auto jobs = [](int gpus) { return with_steps(jobs_of({{0, gpus, 1}}), {10}); };
  const std::string file = file_of({{"v100", {{2, 1}, {4, 0}}}});
  EXPECT_EQ(refusal("1x4", jobs(2), file), "");
  EXPECT_EQ(refusal("1x4:v100", jobs(2), file), "");
  EXPECT_THAT(refusal("1x4:h100", jobs(2), file),
              AllOf(HasSubstr("GPU type 'h100'"), HasSubstr("v100")));
  EXPECT_THAT(refusal("1x4", jobs(1), file), HasSubstr("v100: ('A', 1) of job 'a'"));
  EXPECT_THAT(refusal("1x4", jobs(4), file),
              AllOf(HasSubstr("on which job 'a' runs"), HasSubstr("0 steps/s")));
  EXPECT_THAT(refusal("1x4", jobs_of({{0, 2, 1}}), file), HasSubstr("a whole number of steps"));
}

TEST(Gavel, JobThatCanNeverRunIsAnError) {
  // A type with 8 GPUs exists, but the job gets the last type by name, which has four.
  const Scene scene("1x8:k80+1x4:p100", with_steps(jobs_of({{0, 8, 1}}), {10}));
  EXPECT_THROW(replay_gavel(scene, file_of({{"k80", {{8, 1}}}, {"p100", {{8, 1}}}})), RunError);
}

}  // namespace
}  // namespace yard::testing
