// Errors shown to the user: invalid input (exit code 2) or a failed run (exit code 1). Only main
// and the RPC handler catch them.
#pragma once

#include <stdexcept>
#include <string>

namespace yard {

// An input cannot be used.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& text) : std::runtime_error(text) {}

  // what() is "WHERE: expected EXPECTED, got GOT".
  InputError(const std::string& where, const std::string& expected, const std::string& got)
      : std::runtime_error(where + ": expected " + expected + ", got " + got) {}
};

// The input was valid but the work failed, e.g. a full disk or a lost peer.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace yard
