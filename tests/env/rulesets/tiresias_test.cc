// The rule set `tiresias` against the original program's results, job by job, and against a slow
// simulator of the same rules. Traces, clusters and policies are random.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/trace/formats/load_trace.h"
#include "tests/reference/tiresias_reference.h"
#include "tests/support/replays.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

Play tiresias_play(const std::string& policy, const std::string& placement) {
  return {"tiresias", policy, placement};
}

struct TiresiasTotals {
  std::string file;
  std::string trace;  // a file of the published results, or the number of generated jobs
  std::string cluster;
  std::string policy, placement;
  int64_t sum_jct_s, makespan_s, preemptions;
  std::string sha256;  // of csv_of()
};

std::ostream& operator<<(std::ostream& out, const TiresiasTotals& p) { return out << p.file; }

const TiresiasTotals kTiresiasTotals[] = {
    {"tiresias-60_job-n2g8-count-fifo.csv", "60_job.csv", "2x8", "fifo", "count", 12049, 3335, 0,
     ""},
    {"tiresias-60_job-n2g8-yarn-fifo.csv", "60_job.csv", "2x8", "fifo", "yarn", 13634, 3357, 0, ""},
    {"tiresias-xv480-n8g8-count-fifo.csv", "480", "8x8", "fifo", "count", 20061797, 333856, 0,
     "55c5266ba737ed5df4d8972ffd5a4e5a217cb5cab871984eb2695c4837917eff"},
    {"tiresias-xv480-n8g8-yarn-fifo.csv", "480", "8x8", "fifo", "yarn", 32014621, 373760, 0,
     "9bd2629dec678030095390606394adfd4d7ba3812aa803bd08382a9bd34da74d"},
    {"tiresias-xv480-n8g8-count-shortest.csv", "480", "8x8", "shortest", "count", 4597853, 291697,
     566, "88c768996adf0a16382886274c4650686446c76f90bbef035a831ea4be5eecf8"},
    {"tiresias-xv480-n8g8-count-dlas.csv", "480", "8x8", "dlas", "count", 5341089, 285301, 275,
     "3c4e3df76a0ab66ea686287adbfdf9dced5c658759e1235f747f924dad255be6"},
};

class TiresiasPublished : public ::testing::TestWithParam<TiresiasTotals> {};

TEST_P(TiresiasPublished, StartsAndEndsMatchTheOriginal) {
  const TiresiasTotals& p = GetParam();
  const bool generated = p.trace.find('.') == std::string::npos;
  if (!generated) YARD_NEEDS_XVAL();
  const Trace trace = generated
                          ? load_trace("synthetic:xv", {.jobs = std::stoi(p.trace)})
                          : load_trace((xval_dir() / p.trace).string(), {.format = "tiresias"});
  const Scene scene(p.cluster, trace.jobs);
  const Outcome outcome = replay(scene, tiresias_play(p.policy, p.placement));
  EXPECT_EQ(total_jct_us(scene, outcome.jobs), p.sum_jct_s * kSecond);
  EXPECT_EQ(outcome.end_us, p.makespan_s * kSecond);
  EXPECT_EQ(preemptions(outcome), p.preemptions);
  const std::string csv = csv_of(scene, outcome);
  if (!p.sha256.empty()) {
    EXPECT_EQ(sha256_hex(csv), p.sha256);
  }
  if (xval_dir().empty()) return;
  EXPECT_EQ(csv, read_file((xval_dir() / "expected" / p.file).string()));
}

INSTANTIATE_TEST_SUITE_P(All, TiresiasPublished, ::testing::ValuesIn(kTiresiasTotals),
                         [](const auto& info) {
                           std::string name;
                           for (const char c : info.param.file.substr(9)) {
                             if (std::isalnum(static_cast<unsigned char>(c))) name += c;
                           }
                           return name;
                         });

TEST(Tiresias, TotalsOfTheLongTraceMatchTheOriginal) {
  const Trace trace = load_trace("synthetic:xv", {.jobs = 10'000});
  const Scene scene("8x8", trace.jobs);
  const auto sum_s = [&](const Play& play) {
    return total_jct_us(scene, replay(scene, play).jobs) / kSecond;
  };
  EXPECT_EQ(sum_s(tiresias_play("fifo", "yarn")), 7'550'389'525);
  EXPECT_EQ(sum_s(tiresias_play("dlas", "count")), 244'617'402);
}

// --- against the slow simulator
// -------------------------------------------------------------------

struct TiresiasCluster {
  std::string text;
  reference::Nodes nodes;
};

// Two switches of three nodes each.
std::string two_switches() {
  const std::string path =
      ::testing::TempDir() + "two_switches_" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(path) << "nodes:\n"
                         "  - {count: 3, gpus: 4, rack: 7}\n"
                         "  - {count: 3, gpus: 4, rack: 2}\n";
  return path;
}

// Run times are close to the limits of the queues.
std::vector<Job> jobs_for(Rng& rng, const reference::Nodes& nodes, bool powers) {
  const int32_t largest = std::min(nodes.per_switch, nodes.count) * nodes.gpus_each;
  return coarse_jobs(rng, {.largest = largest, .powers = powers});
}

class TiresiasRandom : public ::testing::TestWithParam<std::string> {};

TEST_P(TiresiasRandom, MatchesTheReferenceSimulator) {
  const std::string policy = GetParam();
  const std::vector<TiresiasCluster> clusters = {{"1x4", {1, 4, 1}},
                                                 {"2x8", {2, 8, 2}},
                                                 {"3x4", {3, 4, 3}},
                                                 {"8x8", {8, 8, 8}},
                                                 {two_switches(), {6, 4, 3}}};
  for (uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng{seed}.split(sha256_hex(policy)[0]);
    const TiresiasCluster& cluster = clusters[rng.below(static_cast<uint32_t>(clusters.size()))];
    const std::vector<Job> jobs = jobs_for(rng, cluster.nodes, rng.below(2) == 0);
    const Scene scene(cluster.text, jobs);
    for (const char* placement : {"count", "yarn"}) {
      SCOPED_TRACE(placement + (" on " + cluster.text));
      expect_same(replay_checked(scene, tiresias_play(policy, placement)),
                  reference::tiresias(in_seconds(jobs), cluster.nodes, policy, placement));
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TiresiasRandom,
                         ::testing::Values("fifo", "fjf", "sjf", "shortest", "shortest-gpu", "dlas",
                                           "dlas-gpu", "dlas-gpu-1", "dlas-gpu-8", "dlas-gpu-05",
                                           "dlas-gpu-0.3"),
                         [](const auto& info) {
                           std::string name;
                           for (const char c : info.param) name += c == '-' || c == '.' ? '_' : c;
                           return name;
                         });

// The random cases must cover the stale end, a special case of these rules.
TEST(Tiresias, RandomJobsCoverTheStaleEnd) {
  int ended_early = 0;
  for (uint64_t seed = 0; seed < 400 && ended_early == 0; ++seed) {
    Rng rng = Rng{seed}.split(1);
    const std::vector<Job> jobs = jobs_for(rng, {1, 4, 1}, true);
    const Scene scene("1x4", jobs);
    std::vector<int64_t> ran_us(jobs.size(), 0);
    replay(scene, tiresias_play("dlas-gpu", "count"), [&](const SimState& s) {
      for (int32_t i = 0; i < s.head->num_changed; ++i) {
        const int32_t slot = s.changed[i];
        if (s.phase[slot] == Phase::kDone) {
          ran_us[static_cast<size_t>(s.job[slot])] = s.attained_us[slot];
        }
      }
    });
    for (size_t j = 0; j < jobs.size(); ++j) ended_early += ran_us[j] < jobs[j].run_us;
  }
  EXPECT_GT(ended_early, 0);
}

// --- what the original never meets
// ----------------------------------------------------------------

TEST(Tiresias, TruncatesRunTimesAndRoundsSubmissionsUp) {
  const Scene scene("1x4", jobs_of({{0, 4, 10.9}, {2.5, 4, 5}}));
  const Outcome outcome = replay(scene, tiresias_play("fifo", "count"));
  EXPECT_EQ(outcome.jobs[0].end_us, 10 * kSecond);
  EXPECT_EQ(outcome.jobs[1].start_us, 10 * kSecond);
  const Scene idle("1x4", jobs_of({{2.5, 4, 5}}));
  EXPECT_EQ(replay(idle, tiresias_play("fifo", "count")).jobs[0].start_us, 3 * kSecond);
}

std::string refused(const std::string& cluster, const std::string& policy,
                    const std::string& placement) {
  const Scene scene(cluster, jobs_of({{0, 1, 10}}));
  return refusal(scene, tiresias_play(policy, placement));
}

TEST(Tiresias, RejectsUnsupportedOptions) {
  EXPECT_NE(refused("1x4", "srtf", "count").find("'srtf'"), std::string::npos);
  EXPECT_NE(refused("1x4", "dlas-gpu-0", "count").find("'dlas-gpu-0'"), std::string::npos);
  EXPECT_NE(refused("1x4", "dlas-gpu-x", "count").find("'dlas-gpu-x'"), std::string::npos);
  EXPECT_NE(refused("1x4", "fifo", "best-fit").find("'best-fit'"), std::string::npos);
  EXPECT_NE(refused("1x4+1x8", "fifo", "yarn").find("nodes of equal size"), std::string::npos);
  EXPECT_EQ(refused("1x4+1x8", "fifo", "count"), "");
}

TEST(Tiresias, ReportsAJobThatCanNeverRun) {
  // There are 8 GPUs, but no switch has 8.
  const std::string path =
      ::testing::TempDir() + "single_switches_" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(path) << "nodes: [{gpus: 4, rack: 0}, {gpus: 4, rack: 1}]\n";
  const Scene scene(path, jobs_of({{0, 8, 10}}));
  for (const char* policy : {"fifo", "fjf", "sjf", "shortest", "shortest-gpu"}) {
    EXPECT_THROW(replay(scene, tiresias_play(policy, "yarn")), RunError) << policy;
    EXPECT_EQ(replay(scene, tiresias_play(policy, "count")).jobs[0].end_us, 10 * kSecond) << policy;
  }
  EXPECT_EQ(replay(scene, tiresias_play("dlas", "yarn")).jobs[0].end_us, 10 * kSecond);
}

}  // namespace
}  // namespace yard::testing
