// Turns Ctrl-C and SIGTERM into a flag which long work polls between steps.
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>

namespace yard {

// Exception that unwinds to run_main(), which ends the program with exit code kInterruptedExit.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
  // `command` is a command line which continues the interrupted work.
  explicit Interrupted(const std::string& command)
      : std::runtime_error("interrupted; continue with: " + command) {}
};

inline constexpr int kInterruptedExit = 130;

// Makes the first Ctrl-C or SIGTERM set a flag, and a second such signal kill the process.
void install_interrupt_handler();

bool interrupted();

// Throws Interrupted if a signal has arrived.
void throw_if_interrupted();

// While a HoldInterrupts lives, all signals only set the flag, so that writes can be completed.
class HoldInterrupts {
 public:
  HoldInterrupts();
  ~HoldInterrupts();  // from then on, a second signal kills the process
  HoldInterrupts(const HoldInterrupts&) = delete;

 private:
  struct sigaction before_[2];
};

}  // namespace yard
