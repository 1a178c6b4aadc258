// Where known run times bound what can be reached, and where they do not: each kind of scenario
// separately, and what evaluate reports of it.
#include "experiments/evaluate/bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "env/base/files/file.h"
#include "experiments/evaluate/evaluate.h"
#include "experiments/replay/load_scenario.h"

namespace yard {
namespace {

using ::testing::HasSubstr;

class Bound : public ::testing::Test {
 protected:
  Bound() {
    std::string name = std::filesystem::temp_directory_path() / "yard-bound-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~Bound() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    write_file_atomic((folder_ / name).string(), text);
    return (folder_ / name).string();
  }
  // Returns why there is no bound on a trace with these columns beyond job_id,submit_s,run_s,gpus.
  std::string why(const std::string& cluster, const std::string& more_columns = "",
                  const std::string& more = "", const std::string& rules = "default") const {
    ScenarioOptions options;
    options.trace = file("jobs.csv", "job_id,submit_s,run_s,gpus" + more_columns + "\na,0,100,1" +
                                         more + "\nb,10,100,2" + more + "\n");
    options.cluster = cluster;
    return why_oracle_is_no_bound(load_scenario(options), rules);
  }
  std::string why_of(const ScenarioOptions& options) const {
    return why_oracle_is_no_bound(load_scenario(options), "default");
  }

  std::filesystem::path folder_;
};

TEST_F(Bound, IsValidIfOnlyRunTimesMatter) {
  EXPECT_EQ(why("2x4"), "");
  EXPECT_EQ(why("2x4:v100"), "");
  ScenarioOptions habits;
  habits.trace = "synthetic:habits";
  habits.cluster = "4x8";
  EXPECT_EQ(why_of(habits), "");
}

TEST_F(Bound, IsInvalidWithMixedTypes) {
  const std::string cluster = file("two.yaml",
                                   "gpu_types:\n  fast: {speed: 1}\n  slow: {speed: 0.5}\n"
                                   "nodes:\n  - {count: 1, gpus: 4, type: fast}\n"
                                   "  - {count: 1, gpus: 4, type: slow}\n");
  EXPECT_THAT(why(cluster), HasSubstr("GPU types"));
  EXPECT_EQ(why(cluster, ",gpu_types", ",fast"), "") << "none of them can run on the slow ones";
  EXPECT_EQ(why("1x4:v100+1x4:k80"), "") << "a shorthand has no speeds";
}

TEST_F(Bound, IsInvalidWithElasticJobs) {
  ScenarioOptions options;
  options.trace = "synthetic:servers";
  options.cluster = "servers-13";
  EXPECT_THAT(why_of(options), HasSubstr("elastic"));
}

TEST_F(Bound, IsInvalidWithInterference) {
  ScenarioOptions options;
  options.trace = "synthetic:servers";
  options.cluster = "servers-6";
  options.trace_settings.set("most", "0", "test");
  EXPECT_NE(why_of(options), "");
  options.trace = "synthetic:mixed";
  options.cluster = "mixed-9";
  options.trace_settings = {};
  EXPECT_NE(why_of(options), "");
  options.trace = "synthetic:rings";
  options.cluster = "rings-8";
  EXPECT_NE(why_of(options), "");
}

TEST_F(Bound, IsInvalidWithFaultsOrDependencies) {
  EXPECT_THAT(why("2x4", ",after", ","), "");
  ScenarioOptions options;
  options.trace = file("jobs.csv", "job_id,submit_s,run_s,gpus,after\na,0,100,1,\nb,10,100,2,a\n");
  options.cluster = "2x4";
  EXPECT_THAT(why_of(options), HasSubstr("dependencies between jobs"));
  options.trace = file("plain.csv", "job_id,submit_s,run_s,gpus\na,0,100,1\nb,10,100,2\n");
  options.fault_model.set("node_mtbf_h", "100", "test");
  EXPECT_THAT(why_of(options), HasSubstr("faults"));
}

TEST_F(Bound, IsInvalidIfPoliciesMayEndJobs) {
  ScenarioOptions options;
  options.trace = file("jobs.csv", "job_id,submit_s,run_s,gpus\na,0,100,1\nb,10,100,2\n");
  options.cluster = "2x4";
  options.demands.set("draw", "true", "test");
  EXPECT_THAT(why_of(options), HasSubstr("end before their work is done"));
  options.variation.allows = {.preempt = false, .move = false};
  EXPECT_EQ(why_of(options), "") << "if jobs may not be stopped, none is ended early";
}

EvaluateOptions evaluation(const std::string& trace, const std::string& cluster,
                           const std::string& candidate, std::vector<std::string> against) {
  EvaluateOptions options;
  CellSpec cell;
  cell.name = "as it is";
  cell.scenario.trace = trace;
  cell.scenario.cluster = cluster;
  cell.scenario.generate_jobs = 60;
  cell.replicas = 1;
  options.cells = {cell};
  options.candidates = {{candidate, {candidate}}};
  options.against = std::move(against);
  options.run_of = [](const std::string&) { return RunOptions{}; };
  return options;
}

TEST_F(Bound, InvalidBoundHasNoHeadroomAndPlaysNoOracles) {
  const Evaluation result =
      evaluate(evaluation("synthetic:servers", "servers-13", "drf", {"fifo", "srtf"}));
  const CellResult& cell = result.cells[0];
  EXPECT_THAT(cell.facts.no_bound, HasSubstr("elastic"));
  EXPECT_FALSE(cell.oracle.has_value());
  EXPECT_TRUE(std::isnan(cell.oracle_headroom()));
  EXPECT_TRUE(std::isnan(cell.oracle_headroom_vs_best_in_hindsight()));
  EXPECT_TRUE(std::isnan(cell.oracle_gap_closed()));
  ASSERT_EQ(cell.bounds.size(), 1u) << "the oracle that was named";
  EXPECT_EQ(cell.bounds[0].name, "srtf");
  EXPECT_GT(cell.bounds[0].mean_jct_s, 0);
}

TEST_F(Bound, IsKeptWithTheCellsFactsAndRecomputedIfMissing) {
  EvaluateOptions options = evaluation("synthetic:servers", "servers-13", "drf", {"fifo"});
  options.cells[0].sha256 = "generated";
  options.results = (folder_ / "scores").string();
  EXPECT_FALSE(evaluate(options).cells[0].oracle.has_value());
  bool found = false;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "scores")) {
    if (!entry.path().filename().string().starts_with("cell-")) continue;
    std::string text = read_file(entry.path().string());
    const size_t at = text.find(",\n    \"no_bound\"");
    ASSERT_NE(at, std::string::npos) << text;
    text.erase(at, text.find('\n', at + 2) - at);
    write_file_atomic(entry.path().string(), text);
    found = true;
  }
  ASSERT_TRUE(found);
  EXPECT_FALSE(evaluate(options).cells[0].oracle.has_value());
}

}  // namespace
}  // namespace yard
