// Runs another program within a time limit, without a shell.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace yard {

struct CommandResult {
  int exit_code = -1;  // -1: the program did not start, was killed, or timed out
  bool timed_out = false;
  std::string out, err;  // standard output; standard error, or why exit_code is -1
  double elapsed_s = 0;

  bool ok() const { return exit_code == 0; }
};

// Runs the program argv[0], searched in PATH, with an empty standard input. Kills the program with
// its process group at the time limit, or if it writes more than 1 GiB. Returns within a second of
// the limit even if the program survives. Requires: `argv` is not empty.
CommandResult run_command(const std::vector<std::string>& argv, std::chrono::milliseconds limit);

}  // namespace yard
