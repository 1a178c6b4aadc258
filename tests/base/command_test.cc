// Commands run without a shell, and never longer than their limit.
#include "env/base/os/command.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/support/temp_file.h"

namespace yard::testing {
namespace {

using namespace std::chrono_literals;

TEST(Command, ReturnsOutputAndExitCode) {
  const CommandResult result = run_command({"sh", "-c", "echo out; echo err >&2; exit 3"}, 20s);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(result.ok());
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
}

TEST(Command, PassesArgumentsAsTheyAre) {
  const std::string odd = "a b;$(touch x)\n'\"*";
  const CommandResult result = run_command({"printf", "%s", odd}, 20s);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.out, odd);
}

TEST(Command, ReadsMoreThanAPipeHolds) {
  const CommandResult result = run_command({"head", "-c", "3000000", "/dev/zero"}, 20s);
  EXPECT_TRUE(result.ok()) << result.err;
  EXPECT_EQ(result.out.size(), 3'000'000u);
}

TEST(Command, HasAnEmptyInput) {
  const CommandResult result = run_command({"cat"}, 20s);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.out, "");
}

TEST(Command, MissingProgramIsAResult) {
  const CommandResult result = run_command({"no-such-program"}, 20s);
  EXPECT_EQ(result.exit_code, -1);
  EXPECT_FALSE(result.timed_out);
  EXPECT_NE(result.err.find("no-such-program"), std::string::npos) << result.err;
}

TEST(Command, KilledProgramHasNoExitCode) {
  const CommandResult result = run_command({"sh", "-c", "kill -SEGV $$"}, 20s);
  EXPECT_EQ(result.exit_code, -1);
  EXPECT_FALSE(result.timed_out);
}

// Returns whether a process exists and is no zombie.
bool lives(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  file >> number >> name >> state;
  return !state.empty() && state != "Z";
}

// The child ignores what can be ignored, and has a child of its own which holds the pipe.
TEST(Command, KillsTheWholeGroupAtTheLimit) {
  const TempFile file_of_pids("pids", "");
  const std::string& pids = file_of_pids.path();
  const CommandResult result = run_command(
      {"sh", "-c", "trap '' TERM INT HUP; sleep 1000 & echo $$ $! > '" + pids + "'; wait"}, 500ms);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_code, -1);
  std::ifstream file(pids);
  pid_t shell = 0, sleeper = 0;
  ASSERT_TRUE(file >> shell >> sleeper) << "it was killed before it began";
  EXPECT_FALSE(lives(shell));
  for (int i = 0; i < 200 && lives(sleeper); ++i) usleep(10'000);
  EXPECT_FALSE(lives(sleeper));
}

// A grandchild that holds the pipes does not hold us.
TEST(Command, EndsWithTheProgramItself) {
  const CommandResult result = run_command({"sh", "-c", "sleep 1000 & echo done"}, 60s);
  EXPECT_TRUE(result.ok());
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.out, "done\n");
}

}  // namespace
}  // namespace yard::testing
