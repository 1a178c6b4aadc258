// The table of live checks: a stage which passed counts until anything but the table changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "env/base/files/file.h"
#include "env/base/os/command.h"
#include "tests/support/require.h"
#include "tests/support/temp_file.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;

// A repository with one commit and a copy of the scripts.
class LiveTable : public ::testing::Test {
 protected:
  void SetUp() override {
    YARD_NEEDS(git, run_command({"git", "--version"}, kLimit).ok(), "no git");
    fs::create_directories(root() + "/scripts");
    for (const char* script : {"check_live.sh", "live_table.py"}) {
      fs::copy(std::string("scripts/") + script, root() + "/scripts/");
    }
    std::ofstream(root() + "/source") << "1";
    ASSERT_TRUE(run("git init -q . && git add . && " + std::string(kCommit)).ok());
  }

  CommandResult run(const std::string& command) const {
    return run_command({"sh", "-c", "cd '" + root() + "' && " + command}, kLimit);
  }
  CommandResult table(const std::string& arguments) const {
    return run("python3 scripts/live_table.py table.json " + arguments);
  }
  std::string root() const { return (temp_.folder() / "repository").string(); }

  static constexpr std::chrono::seconds kLimit{60};
  static constexpr const char* kCommit =
      "git -c user.name=a -c user.email=a@example.org commit -qm words";
  TempFile temp_{"unused", ""};  // for its folder
};

TEST_F(LiveTable, APassedStageCountsUntilTheSourceChanges) {
  EXPECT_FALSE(table("passed slurm").ok());
  ASSERT_TRUE(table("note slurm ok 61 '600 jobs, \"0\" leases'").ok());
  ASSERT_TRUE(table("note chaos FAILED 7 none").ok());
  EXPECT_TRUE(table("passed slurm").ok());
  EXPECT_FALSE(table("passed chaos").ok());
  EXPECT_FALSE(table("passed other").ok());
  const std::string shown = table("show").out;
  EXPECT_NE(shown.find("600 jobs, \"0\" leases"), std::string::npos) << shown;
  EXPECT_NE(shown.find("FAILED"), std::string::npos) << shown;
  // The commit of the table itself changes nothing.
  ASSERT_TRUE(run("git add table.json && " + std::string(kCommit)).ok());
  EXPECT_TRUE(table("passed slurm").ok());
  std::ofstream(root() + "/source") << "2";
  EXPECT_FALSE(table("passed slurm").ok()) << "a change that is not committed";
  ASSERT_TRUE(table("note slurm ok 62 again").ok());
  EXPECT_FALSE(table("passed slurm").ok()) << "no commit has what was checked";
  ASSERT_TRUE(run("git add source && " + std::string(kCommit)).ok());
  EXPECT_FALSE(table("passed slurm").ok());
  ASSERT_TRUE(table("note slurm ok 63 again").ok());
  EXPECT_TRUE(table("passed slurm").ok());
}

// The stage's program stands in for a check that takes an hour.
TEST_F(LiveTable, TheScriptSkipsWhatHasPassedAndNotesWhatFails) {
  fs::create_directories(root() + "/tests/live");
  const std::string stage = root() + "/tests/live/prometheus.sh";
  std::ofstream(stage) << "#!/bin/sh\necho started >>runs\necho 5 figures\n";
  for (const char* program : {"prometheus", "promtool"}) {
    std::ofstream(root() + "/" + program) << "#!/bin/sh\n";
  }
  std::ofstream(root() + "/scripts/install.sh") << "#!/bin/sh\n";
  std::ofstream(root() + "/.gitignore") << "runs\nbuild\n";
  ASSERT_TRUE(run("chmod +x prometheus promtool tests/live/prometheus.sh scripts/install.sh && "
                  "git add . && " +
                  std::string(kCommit))
                  .ok());
  const auto check = [&](const std::string& settings) {
    return run("PATH=$PWD:$PATH LIVE_TABLE=table.json " + settings + " scripts/check_live.sh");
  };
  const auto runs = [&] {
    const std::string text = read_file(root() + "/runs");
    return std::count(text.begin(), text.end(), '\n');
  };
  const CommandResult first = check("ONLY=prometheus");
  EXPECT_TRUE(first.ok()) << first.out << first.err;
  EXPECT_NE(first.out.find("5 figures\n"), std::string::npos) << first.out;
  EXPECT_TRUE(table("passed prometheus").ok());
  EXPECT_TRUE(check("ONLY=prometheus").ok());
  EXPECT_EQ(runs(), 1) << "it had passed";
  EXPECT_TRUE(check("ONLY=other").ok());
  EXPECT_TRUE(check("ONLY=other,prometheus FORCE=1").ok());
  EXPECT_EQ(runs(), 2);
  std::ofstream(stage) << "#!/bin/sh\necho 1 of 5 figures\nexit 3\n";
  const CommandResult failed = check("ONLY=prometheus");
  EXPECT_EQ(failed.exit_code, 1);
  const std::string shown = table("show").out;
  EXPECT_NE(shown.find("FAILED"), std::string::npos) << shown;
  EXPECT_NE(shown.find("1 of 5 figures"), std::string::npos) << shown;
}

}  // namespace
}  // namespace yard::testing
