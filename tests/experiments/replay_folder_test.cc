// The run folder of `simulate` and `whatif`.
#include "experiments/cli/replay_folder.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "experiments/replay/load_scenario.h"
#include "tests/support/temp_file.h"

namespace yard::sim {
namespace {

namespace fs = std::filesystem;

// Else the same command could not be repeated.
TEST(ReplayFolder, OfACommandThatFailsIsRemoved) {
  const testing::TempFile scratch("scratch", "");
  const std::string out = (scratch.folder() / "made").string();
  CLI::App app;
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.generate_jobs = 2;
  options.cluster = "1x8";
  const Scenario scenario = load_scenario(options);
  {
    ReplayFolder folder(out, "");
    folder.begin(app, scenario, "simulate", 1);
    ASSERT_TRUE(fs::exists(out));
  }
  EXPECT_FALSE(fs::exists(out));
  {
    ReplayFolder folder(out, "");
    folder.begin(app, scenario, "whatif", 1);
    folder.finish({{"runs", nullptr}}, "policy\n", "<!DOCTYPE html>");
  }
  EXPECT_TRUE(fs::exists(out + "/report.html"));
  EXPECT_TRUE(fs::exists(out + "/evaluations/jobs.csv"));
}

}  // namespace
}  // namespace yard::sim
