// `report` from outside: what evaluate and simulate hand out becomes a page; what is no run is
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "env/base/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class ReportCommand : public ::testing::Test {
 protected:
  // As a training leaves it, without what only a trainer can make.
  void make_run(const std::string& name) const {
    std::filesystem::create_directories(name + "/evaluations");
    folder_.write(name + "/run.json",
                  R"({"format":1,"command":"train","agent":"pilot","seed":5,"state":"done"})");
    folder_.write(name + "/config.yaml", "lr: 0.001\n");
    folder_.write(name + "/metrics.csv", "step,validation/ratio\n1,1\n2,0.98\n");
  }

  const Folder folder_;
  const std::string scene_ = " --trace synthetic:habits --cluster 4x8 --generate-jobs 400";
};

TEST_F(ReportCommand, ShowsWhatEvaluateAndSimulateHandOut) {
  make_run("run");
  const Result evaluated = shell("yardmaster evaluate --candidate srsf-history --against las,fifo" +
                                 scene_ + " --json-out run/evaluations/cells.json");
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.out, HasSubstr("mean JCT s")) << "the table is printed all the same";
  const Result simulated =
      shell("yardmaster simulate --policy las,srsf" + scene_ +
            " --json-out run/evaluations/replay.json --jobs-out run/evaluations/jobs.csv "
            "--series-out run/evaluations/series.json --json");
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  EXPECT_EQ(simulated.out, read_file("run/evaluations/replay.json"));

  const Result result = shell("yardmaster report run");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "run/report.html\n");
  const std::string page = read_file("run/report.html");
  for (const char* title : {"Comparison", "Learning curve", "cell by cell", "Replays",
                            "Completion times", "Cluster over time", "All settings"}) {
    EXPECT_THAT(page, HasSubstr(title));
  }
  const Json cell = Json::parse(read_file("run/evaluations/cells.json"))["cells"][0];
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "<td>%.3f [", cell["ratio"].get<double>());
  EXPECT_THAT(page, HasSubstr(ratio));
  EXPECT_EQ(folder_.leftovers(), 0);
}

TEST_F(ReportCommand, ComparesRunsWhereItIsCalled) {
  make_run("a");
  make_run("b");
  EXPECT_EQ(shell("yardmaster report a b").out, "report.html\n");
  EXPECT_THAT(read_file("report.html"), HasSubstr("Runs a, b"));
  const Result named = shell("yardmaster report a b/ --out both.html --json");
  EXPECT_EQ(Json::parse(named.out)["report"], "both.html");
  EXPECT_EQ(Json::parse(named.out)["bytes"], read_file("both.html").size());
}

TEST_F(ReportCommand, RefusesWhatIsNoRun) {
  make_run("broken");
  folder_.write("broken/evaluations/x.json", "{\"cells\":");
  folder_.write("file", "");
  for (const auto& [arguments, said] :
       {std::pair{"nowhere", "nowhere: expected a run folder"}, std::pair{"file", "a run folder"},
        std::pair{"broken", "x.json: expected a JSON object"}, std::pair{"", "run is required"}}) {
    const Result result = shell(std::string("yardmaster report ") + arguments + " --out r.html");
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(said));
    EXPECT_FALSE(folder_.has("r.html"));
  }
}

}  // namespace
}  // namespace yard::testing
