#include "env/base/program.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "env/base/error.h"
#include "env/base/interrupt.h"

namespace yard {
namespace {

// In a process of its own: run_main takes over the signals.
void run(int (*fn)(int, char**)) {
  char name[] = "program", argument[] = "x";
  char* argv[] = {name, argument, nullptr};
  std::exit(run_main(2, argv, fn));
}

TEST(ProgramDeathTest, TheResultIsTheExitCode) {
  EXPECT_EXIT(run([](int argc, char** argv) { return argc + (argv[1][0] == 'x' ? 5 : 0); }),
              testing::ExitedWithCode(7), "");
}

TEST(ProgramDeathTest, BadInputExitsWithTwo) {
  EXPECT_EXIT(run([](int, char**) -> int { throw InputError("a.csv:3", "a number", "'x'"); }),
              testing::ExitedWithCode(2), "^yardmaster: a.csv:3: expected a number, got 'x'\n$");
}

TEST(ProgramDeathTest, AFailedRunExitsWithOne) {
  EXPECT_EXIT(run([](int, char**) -> int { throw RunError("out: No space left on device"); }),
              testing::ExitedWithCode(1), "^yardmaster: out: No space left on device\n$");
}

TEST(ProgramDeathTest, ASignalExitsWith130) {
  EXPECT_EXIT(run([](int, char**) {
                std::raise(SIGTERM);
                throw_if_interrupted();
                return 0;
              }),
              testing::ExitedWithCode(130), "^yardmaster: interrupted\n$");
}

TEST(ProgramDeathTest, OutputThatCannotBeWrittenExitsWithOne) {
  EXPECT_EXIT(run([](int, char**) {
                if (std::freopen("/dev/full", "w", stdout) == nullptr) return 9;
                std::printf("a table");
                return 0;
              }),
              testing::ExitedWithCode(1), "standard output cannot be written");
}

}  // namespace
}  // namespace yard
