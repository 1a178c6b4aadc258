// A run folder: what it holds, what it refuses, and what a resumed run finds in it.
#include "experiments/run/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "env/base/config/settings.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "experiments/run/metrics_csv.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class RunFolderTest : public ::testing::Test {
 protected:
  nlohmann::json run_json() const { return nlohmann::json::parse(read_file(path_ / "run.json")); }
  std::string metrics() const { return read_file(path_ / "metrics.csv"); }

  // Returns the message of the InputError which `work` throws.
  template <class F>
  static std::string refusal(F work) {
    try {
      work();
    } catch (const InputError& error) {
      return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
  }

  const AtomicDirectory scratch_{::testing::TempDir() + "/run_folder"};  // never committed: removed
  const fs::path path_ = scratch_.temporary_path() / "runs" / "a";
  const RunInfo info_{.command = "train",
                      .agent = "pilot",
                      .seed = 7,
                      .traces = {{"some/folder/jobs.csv.gz", std::string(64, 'a'), "train"},
                                 {"synthetic:habits", std::string(64, 'b'), "validation"}}};
};

TEST_F(RunFolderTest, ContainsTheDocumentedFiles) {
  RunFolder run = RunFolder::create(path_, {{"lr", "0.001"}}, info_);
  run.add_metrics(0, {{"train/return", 1}});
  run.set_state(RunState::kDone);
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with("events.out.tfevents.")) name = "events";
    names.insert(name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"checkpoints", "config.yaml", "evaluations", "events",
                                          "log.txt", "metrics.csv", "run.json"}));
  EXPECT_TRUE(fs::is_directory(run.checkpoints()));
  EXPECT_TRUE(fs::is_directory(run.evaluations()));
  // No temporary folder is left next to it.
  EXPECT_EQ(std::distance(fs::directory_iterator(path_.parent_path()), fs::directory_iterator()),
            1);
}

TEST_F(RunFolderTest, RecordsCommandHostAndFinalState) {
  {
    RunFolder run = RunFolder::create(path_, {}, info_);
    const nlohmann::json during = run_json();
    EXPECT_EQ(during["state"], "running");
    EXPECT_TRUE(during["ended"].is_null());
    run.set_state(RunState::kDone);
  }
  const nlohmann::json after = run_json();
  EXPECT_EQ(after["state"], "done");
  EXPECT_EQ(after["command"], "train");
  EXPECT_EQ(after["agent"], "pilot");
  EXPECT_EQ(after["seed"], 7);
  EXPECT_GE(after["ended"].get<std::string>(), after["started"].get<std::string>());
  EXPECT_TRUE(after["yardmaster"].contains("commit"));
  EXPECT_GT(after["machine"]["cores"], 0);
  EXPECT_GT(after["machine"]["memory_gib"], 0);
  EXPECT_EQ(after["traces"][0]["source"], "jobs.csv.gz");
  EXPECT_EQ(after["traces"][1]["source"], "synthetic:habits");
  EXPECT_EQ(after["traces"][1]["used_as"], "validation");
  EXPECT_THAT(after.dump(), Not(HasSubstr("some/folder")));
}

TEST_F(RunFolderTest, ConfigRoundTrips) {
  const RunFolder::Config config = {{"lr", "0.001"},
                                    {"net.hidden", "64,64"},
                                    {"note", "yes: it's \"quoted\" # so"},
                                    {"empty", ""},
                                    {"on", "true"}};
  const RunFolder run = RunFolder::create(path_, config, info_);
  RunFolder::Config back;
  const Settings settings = Settings::from_yaml(run.config_file());
  for (const GivenSetting& setting : settings.entries()) {
    back.emplace_back(setting.key, setting.value);
  }
  EXPECT_EQ(back, config);
}

TEST_F(RunFolderTest, RefusesToOverwrite) {
  { RunFolder::create(path_, {{"lr", "1"}}, info_).set_state(RunState::kDone); }
  const auto refused = [&] { RunFolder::create(path_, {{"lr", "2"}}, info_); };
  EXPECT_THAT(refusal(refused), HasSubstr("without a saved state to resume (remove it"));
  fs::create_directory(RunFolder::resume_state_path(path_));
  EXPECT_THAT(refusal(refused),
              HasSubstr("expected a new or empty folder for a run, got a run (--resume"));
  EXPECT_EQ(refusal([&] { RunFolder::require_unoccupied_path(path_); }), refusal(refused));
  EXPECT_THAT(read_file(path_ / "config.yaml"), HasSubstr("lr: 1"));

  const fs::path other = scratch_.temporary_path() / "other";
  fs::create_directory(other);
  write_file_atomic(other / "thesis.tex", "years of work");
  EXPECT_THAT(refusal([&] { RunFolder::create(other, {}, info_); }), HasSubstr("something else"));
  EXPECT_EQ(read_file(other / "thesis.tex"), "years of work");
  EXPECT_THAT(refusal([&] { RunFolder::create(other / "thesis.tex", {}, info_); }),
              HasSubstr("something else"));

  fs::create_directory(scratch_.temporary_path() / "empty");
  RunFolder::create(scratch_.temporary_path() / "empty", {}, info_);
  EXPECT_TRUE(fs::exists(scratch_.temporary_path() / "empty" / "run.json"));
}

TEST_F(RunFolderTest, OpensOnlyRunFolders) {
  EXPECT_THAT(refusal([&] { RunFolder::open(path_); }), HasSubstr("expected a run folder"));
  fs::create_directories(path_);
  write_file_atomic(path_ / "run.json", "{\"format\": 1");
  EXPECT_THAT(refusal([&] { RunFolder::open(path_); }), HasSubstr("run.json"));
  write_file_atomic(path_ / "run.json", "{\"format\": 99}");
  EXPECT_THAT(refusal([&] { RunFolder::open(path_); }), HasSubstr("expected format 1, got 99"));
}

TEST_F(RunFolderTest, OneProcessWritesAtATime) {
  const RunFolder run = RunFolder::create(path_, {}, info_);
  EXPECT_THAT(refusal([&] { RunFolder::open(path_); }), HasSubstr("no other process"));
}

TEST_F(RunFolderTest, OpeningChangesNothingUntilResumed) {
  RunFolder::create(path_, {}, info_).set_state(RunState::kDone);
  const std::string before = read_file(path_ / "run.json");
  {
    const RunFolder run = RunFolder::open(path_);
    EXPECT_THAT(refusal([&] { RunFolder::open(path_); }), HasSubstr("no other process"));
  }
  EXPECT_EQ(read_file(path_ / "run.json"), before);
  RunFolder::open(path_).mark_resumed();
  EXPECT_EQ(run_json()["state"], "failed") << "left without an end";
  EXPECT_EQ(run_json()["resumed"].size(), 1u);
}

TEST_F(RunFolderTest, ExceptionMarksTheRunAsFailed) {
  try {
    RunFolder run = RunFolder::create(path_, {}, info_);
    throw std::runtime_error("something broke");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(run_json()["state"], "failed");
  EXPECT_TRUE(run_json()["ended"].is_string());
}

TEST_F(RunFolderTest, MetricsHaveOneHeaderAndMayGrowColumns) {
  RunFolder run = RunFolder::create(path_, {}, info_);
  run.add_metrics(0, {{"train/return", -0.1}, {"train/entropy", 2}});
  run.add_metrics(1, {{"train/return", -0.05}, {"validation/ratio", 0.9}});
  run.add_metrics(5, {{"train/entropy", std::numeric_limits<double>::infinity()}});
  EXPECT_EQ(metrics(),
            "step,train/return,train/entropy,validation/ratio\n"
            "0,-0.1,2,\n1,-0.05,,0.9\n5,,inf,\n");
}

TEST_F(RunFolderTest, ResumingDropsRowsAfterTheCheckpoint) {
  {
    RunFolder run = RunFolder::create(path_, {}, info_);
    for (int step = 0; step < 4; ++step) run.add_metrics(step, {{"loss", step}});
    run.log("first part");
  }
  // A crash may cut the last row short.
  std::ofstream(path_ / "metrics.csv", std::ios::app) << "4,0.";
  {
    RunFolder run = RunFolder::open(path_);
    run.mark_resumed();
    EXPECT_EQ(run_json()["state"], "running");
    EXPECT_EQ(run.info().seed, 7u);
    EXPECT_EQ(run.info().traces.size(), 2u);
    run.drop_metrics_after(1);
    run.add_metrics(2, {{"loss", 20}});
    run.log("second part");
    run.set_state(RunState::kDone);
  }
  EXPECT_EQ(metrics(), "step,loss\n0,0\n1,1\n2,20\n");
  EXPECT_EQ(run_json()["resumed"].size(), 1u);
  EXPECT_THAT(read_file(path_ / "log.txt"),
              ::testing::MatchesRegex("2.*Z first part\n2.*Z second part\n"));
}

TEST_F(RunFolderTest, TruncatedRowIsReplaced) {
  { RunFolder::create(path_, {}, info_).add_metrics(0, {{"loss", 1}}); }
  std::ofstream(path_ / "metrics.csv", std::ios::app) << "1,0.";
  RunFolder::open(path_).add_metrics(1, {{"loss", 2}});
  EXPECT_EQ(metrics(), "step,loss\n0,1\n1,2\n");
}

TEST_F(RunFolderTest, BrokenMetricsAreNamedByLine) {
  { RunFolder::create(path_, {}, info_); }
  write_file_atomic(path_ / "metrics.csv", "step,loss\n0,1\n1\n");
  EXPECT_THAT(refusal([&] { MetricsCsv(path_ / "metrics.csv"); }),
              HasSubstr("metrics.csv:3: expected 2 cells, got 1"));
  write_file_atomic(path_ / "metrics.csv", "step,loss\nzero,1\n");
  EXPECT_THAT(refusal([&] { MetricsCsv(path_ / "metrics.csv"); }), HasSubstr("'zero'"));
}

TEST_F(RunFolderTest, DecreasingStepsAbort) {
  RunFolder run = RunFolder::create(path_, {}, info_);
  run.add_metrics(3, {{"loss", 1}});
  EXPECT_DEATH(run.add_metrics(3, {{"loss", 1}}), "steps of metrics must increase");
}

}  // namespace
}  // namespace yard
