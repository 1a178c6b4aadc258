// Errors shown to the user: invalid input (exit code 2) or a failed run (exit code 1). Only main()
// and the RPC handler catch these errors.
#pragma once

#include <stdexcept>
#include <string>

namespace yard {

// Error: the user's input cannot be used.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& text) : std::runtime_error(text) {}

  // Sets the message to "WHERE: expected EXPECTED, got GOT".
  InputError(const std::string& where, const std::string& expected, const std::string& got)
      : std::runtime_error(where + ": expected " + expected + ", got " + got) {}
};

// Error: the input was valid but the work failed, for example because a disk is full.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace yard
