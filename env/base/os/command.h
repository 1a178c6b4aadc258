// Runs another program within a time limit, without a shell.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace yard {

struct CommandResult {
  int exit_code = -1;  // -1: it did not start, was killed, or ran past the limit
  bool timed_out = false;
  std::string out, err;  // standard output; standard error, or why there is no exit code
  double elapsed_s = 0;

  bool ok() const { return exit_code == 0; }
};

// Runs argv[0], looked up in PATH, with an empty standard input. At the limit, or if it writes more
// than 1 GiB, it is killed with all processes of its group. Returns at most a second after the
// limit even if the kill has no effect. Requires: argv is not empty.
CommandResult run_command(const std::vector<std::string>& argv, std::chrono::milliseconds limit);

}  // namespace yard
