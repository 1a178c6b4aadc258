// `report` makes a page of the outputs of evaluate and simulate. It refuses folders which are no
// runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "env/base/files/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class ReportCommand : public ::testing::Test {
 protected:
  // Makes a run folder as a training leaves it, without the files which need LibTorch.
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

TEST_F(ReportCommand, ShowsOutputOfEvaluateAndSimulate) {
  make_run("run");
  const Result evaluated = shell("yardmaster evaluate --candidate srsf-history --against las,fifo" +
                                 scene_ + " --json-out run/evaluations/cells.json");
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.out, HasSubstr("mean JCT s")) << "the table is still printed";
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
  for (const char* title : {"Comparison", "Learning curve", "Policies by cell", "Replays",
                            "Completion times", "Cluster over time", "All settings"}) {
    EXPECT_THAT(page, HasSubstr(title));
  }
  const Json cell = Json::parse(read_file("run/evaluations/cells.json"))["cells"][0];
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "<td>%.3f [", cell["ratio"].get<double>());
  EXPECT_THAT(page, HasSubstr(ratio));
  EXPECT_EQ(folder_.leftovers(), 0);
}

TEST_F(ReportCommand, SimulateWritesAFolderWithPageAndData) {
  const std::string command = "yardmaster simulate --policy las,fifo,srtf" + scene_;
  const Result result = shell(command + " --out sim --report page.html --json");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Json::parse(read_file("sim/evaluations/simulate.json"))["runs"].size(), 3u);
  for (const char* file :
       {"report.html", "run.json", "config.yaml", "evaluations/jobs.csv", "tables/waits.csv",
        "evaluations/series.json", "tables/size_classes.csv", "tables/wait_reasons.csv",
        "tables/fairness.csv", "tables/gpu_hours.csv"}) {
    EXPECT_TRUE(folder_.has(std::string("sim/") + file)) << file;
  }
  for (const char* page : {"sim/report.html", "page.html"}) {
    for (const char* part : {"has the lowest mean job completion time", "Utilisation", "Queue",
                             "Job completion times", "Size classes", "Why jobs waited"}) {
      EXPECT_THAT(read_file(page), HasSubstr(part)) << page;
    }
  }
  // A page can be made of the folder again, but the folder is never overwritten.
  EXPECT_EQ(shell("yardmaster report sim --out again.html").code, 0);
  const Result twice = shell(command + " --out sim");
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("sim"));
  // Rule sets without a visible state leave out the parts which need one.
  const Result gavel = shell(
      "yardmaster simulate --trace synthetic:xv --cluster 2x8 --rules blox "
      "--policy fifo --out blox");
  EXPECT_EQ(gavel.code, 0) << gavel.err;
  EXPECT_TRUE(folder_.has("blox/report.html"));
  EXPECT_EQ(folder_.leftovers(), 0);
}

TEST_F(ReportCommand, AcceptsCommandOutputFiles) {
  ASSERT_EQ(shell("yardmaster evaluate --candidate srsf-history --against las,fifo" + scene_ +
                  " --json-out cells.json")
                .code,
            0);
  ASSERT_EQ(shell("yardmaster simulate --policy las,srsf" + scene_ +
                  " --json-out replay.json --jobs-out jobs.csv --series-out series.json")
                .code,
            0);
  // The last row counts even if an editor removed its line break. The footer has the current time.
  const std::string jobs = read_file("jobs.csv"), rows = jobs.substr(0, jobs.size() - 1);
  const auto jobs_page = [&](const std::string& text) {
    write_file_atomic("jobs.csv", text);
    EXPECT_EQ(shell("yardmaster report jobs.csv").code, 0);
    const std::string page = read_file("report.html");
    EXPECT_THAT(page, HasSubstr("<footer>Written "));
    return page.substr(0, page.find("<footer>Written "));
  };
  EXPECT_EQ(jobs_page(rows), jobs_page(jobs));
  const Result result = shell("yardmaster report cells.json replay.json jobs.csv series.json");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "report.html\n");
  const Json row = Json::parse(read_file("cells.json"))["cells"][0];
  EXPECT_GT(row["max_wait_s"], 0);
  EXPECT_TRUE(row["preemptions"].is_number());
  for (const char* title : {"Comparison", "Replays", "Completion times", "Cluster over time"}) {
    EXPECT_THAT(read_file("report.html"), HasSubstr(title));
  }
}

TEST_F(ReportCommand, WritesComparisonsToTheWorkingDirectory) {
  make_run("a");
  make_run("b");
  EXPECT_EQ(shell("yardmaster report a b").out, "report.html\n");
  EXPECT_THAT(read_file("report.html"), HasSubstr("Runs a, b"));
  const Result named = shell("yardmaster report a b/ --out both.html --json");
  EXPECT_EQ(Json::parse(named.out)["report"], "both.html");
  EXPECT_EQ(Json::parse(named.out)["bytes"], read_file("both.html").size());
}

TEST_F(ReportCommand, ReplacesOnlyItsOwnPages) {
  make_run("run");
  ASSERT_EQ(shell("yardmaster report run").code, 0);
  EXPECT_EQ(shell("yardmaster report run").code, 0) << "its own page is replaced";
  for (const std::string other : {"<!DOCTYPE html><title>thesis</title>", "yardmaster"}) {
    folder_.write("run/report.html", other);
    const Result result = shell("yardmaster report run");
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr("run/report.html: expected no file, or a page"));
    EXPECT_THAT(result.err, HasSubstr("--out"));
    EXPECT_EQ(read_file("run/report.html"), other);
    const Result simulated =
        shell("yardmaster simulate --policy las" + scene_ + " --report run/report.html");
    EXPECT_EQ(simulated.code, 2);
    EXPECT_THAT(simulated.err, HasSubstr("choose another file with --report"));
    EXPECT_EQ(read_file("run/report.html"), other);
  }
  folder_.write("run/report.html", "");
  EXPECT_EQ(shell("yardmaster report run").code, 0) << "nothing is lost";
  EXPECT_EQ(shell("yardmaster report run --out other.html").code, 0);
}

TEST_F(ReportCommand, WaitsFileIsNamedInTheError) {
  ASSERT_EQ(shell("yardmaster simulate --policy las" + scene_ + " --waits-out waits.csv").code, 0);
  const Result result = shell("yardmaster report waits.csv");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("waits.csv: expected a file written by --jobs-out, got a file "
                                    "written by --waits-out"));
}

TEST_F(ReportCommand, RejectsInvalidRuns) {
  make_run("broken");
  folder_.write("broken/evaluations/x.json", "{\"cells\":");
  folder_.write("file", "");
  for (const auto& [arguments, said] :
       {std::pair{"nowhere", "nowhere: expected a run folder"},
        std::pair{"file", "a run folder, JSON from --json-out"},
        std::pair{"broken", "x.json: expected a JSON object"}, std::pair{"", "path is required"}}) {
    const Result result = shell(std::string("yardmaster report ") + arguments + " --out r.html");
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(said));
    EXPECT_FALSE(folder_.has("r.html"));
  }
}

}  // namespace
}  // namespace yard::testing
