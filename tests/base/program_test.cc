#include "env/base/os/program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"

namespace yard {
namespace {

// Runs in a child process, because run_main installs signal handlers.
void run(int (*fn)(int, char**)) {
  char name[] = "program", argument[] = "x";
  char* argv[] = {name, argument, nullptr};
  std::exit(run_main(2, argv, fn));
}

TEST(ProgramDeathTest, ResultIsTheExitCode) {
  EXPECT_EXIT(run([](int argc, char** argv) { return argc + (argv[1][0] == 'x' ? 5 : 0); }),
              ::testing::ExitedWithCode(7), "");
}

TEST(ProgramDeathTest, BadInputExitsWithTwo) {
  EXPECT_EXIT(run([](int, char**) -> int { throw InputError("a.csv:3", "a number", "'x'"); }),
              ::testing::ExitedWithCode(2), "^yardmaster: a.csv:3: expected a number, got 'x'\n$");
}

TEST(ProgramDeathTest, FailedRunExitsWithOne) {
  EXPECT_EXIT(run([](int, char**) -> int { throw RunError("out: No space left on device"); }),
              ::testing::ExitedWithCode(1), "^yardmaster: out: No space left on device\n$");
}

TEST(ProgramDeathTest, SignalExitsWith130) {
  EXPECT_EXIT(run([](int, char**) {
                std::raise(SIGTERM);
                throw_if_interrupted();
                return 0;
              }),
              ::testing::ExitedWithCode(130), "^yardmaster: interrupted\n$");
}

TEST(ProgramDeathTest, UnwritableOutputExitsWithOne) {
  EXPECT_EXIT(run([](int, char**) {
                if (std::freopen("/dev/full", "w", stdout) == nullptr) return 9;
                std::printf("a table");
                return 0;
              }),
              ::testing::ExitedWithCode(1), "cannot write to standard output");
}

// As in `yardmaster list policies | head -1`: the reader closes the pipe early.
TEST(ProgramDeathTest, ClosedPipeIsNotAnError) {
  for (const size_t printed : {size_t{10}, size_t{1} << 20}) {  // under and over the buffer size
    EXPECT_EXIT(
        {
          int ends[2];
          if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) std::exit(9);
          close(ends[0]);
          close(ends[1]);
          static size_t length;
          length = printed;
          run([](int, char**) {
            std::fputs(std::string(length, 'x').c_str(), stdout);
            return 0;
          });
        },
        ::testing::ExitedWithCode(0), "^$");
  }
}

}  // namespace
}  // namespace yard
