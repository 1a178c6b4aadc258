// Turns Ctrl-C and SIGTERM into a flag which long work polls between steps.
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>

namespace yard {

// Unwinds to run_main(), which ends the program with kInterruptedExit.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
  // `command`: continues the interrupted work.
  explicit Interrupted(const std::string& command)
      : std::runtime_error("interrupted; continue with: " + command) {}
};

inline constexpr int kInterruptedExit = 130;

// The first signal sets the flag; a second one of the same kind kills the process.
void install_interrupt_handler();

bool interrupted();

// Throws Interrupted if a signal has arrived.
void throw_if_interrupted();

// While an object lives, any number of signals only set the flag: for writes that must be complete.
class HoldInterrupts {
 public:
  HoldInterrupts();
  ~HoldInterrupts();  // afterwards a second signal kills again
  HoldInterrupts(const HoldInterrupts&) = delete;

 private:
  struct sigaction before_[2];
};

}  // namespace yard
