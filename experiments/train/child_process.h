// Child processes. A crash or kill of a child does not affect this process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace yard {

// Starts `yardmaster-train ARGUMENTS...` and appends its output to `log`. It receives SIGTERM when
// this process ends. Throws RunError.
pid_t start_child(const std::vector<std::string>& arguments, const std::filesystem::path& log);

// Runs `program ARGUMENTS...` from the folder of this program, waits for it and returns its stdout.
// Throws InputError if it is not in this build or exits with code 2, RunError if it fails
// otherwise; the message is what it printed on stderr.
std::string run_sibling_program(const std::string& program,
                                const std::vector<std::string>& arguments);

struct ExitedChild {
  pid_t pid = 0;  // 0: no child has ended
  int code = 0;   // exit code, or 128 + signal
};
// Returns a child which has ended since the last call, without waiting for one.
ExitedChild poll_exited_child();

}  // namespace yard
