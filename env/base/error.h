// What a program may tell its user: the input is wrong (exit 2), or the run could not go on (exit
// 1). Only main and the RPC handler catch these.
#pragma once

#include <stdexcept>
#include <string>

namespace yard {

// Something that was handed in cannot be used.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& text) : std::runtime_error(text) {}

  // what() is "WHERE: expected EXPECTED, got GOT".
  InputError(const std::string& where, const std::string& expected, const std::string& got)
      : std::runtime_error(where + ": expected " + expected + ", got " + got) {}
};

// The input was right and the work failed all the same: a full disk, a lost peer.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace yard
