#include "env/base/os/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace yard {
namespace {

// Each case runs in a child process, because a received signal stays recorded.
void after_one(int signal) {
  install_interrupt_handler();
  if (interrupted()) std::exit(1);
  throw_if_interrupted();
  std::raise(signal);
  if (!interrupted()) std::exit(2);
  try {
    throw_if_interrupted();
  } catch (const Interrupted&) {
    std::exit(0);
  }
  std::exit(3);
}

TEST(InterruptDeathTest, FirstSignalSetsTheFlag) {
  EXPECT_EXIT(after_one(SIGINT), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(after_one(SIGTERM), ::testing::ExitedWithCode(0), "");
}

TEST(InterruptDeathTest, SecondSignalKills) {
  const auto twice = [] {
    install_interrupt_handler();
    std::raise(SIGINT);
    std::raise(SIGINT);
    std::exit(0);
  };
  EXPECT_EXIT(twice(), ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace yard
