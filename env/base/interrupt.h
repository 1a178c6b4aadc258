// Ctrl-C and SIGTERM as a question that long work asks between steps.
#pragma once

#include <stdexcept>
#include <string>

namespace yard {

// Leaves the work from anywhere below run_main, which ends the program with kInterruptedExit.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
  // `command`: that goes on with the work.
  explicit Interrupted(const std::string& command)
      : std::runtime_error("interrupted; go on with: " + command) {}
};

inline constexpr int kInterruptedExit = 130;

// The first signal is noted, a second one of the same kind kills.
void install_interrupt_handler();

bool interrupted();

// Throws Interrupted once a signal came.
void throw_if_interrupted();

}  // namespace yard
