// Child processes, whose crash or kill does not affect this process, and a folder for their files.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace yard {

// Starts `yardmaster-train ARGUMENTS...` and appends its output to `log`. The child receives
// SIGTERM when this process ends. Throws RunError.
pid_t start_child(const std::vector<std::string>& arguments, const std::filesystem::path& log);

// Runs `program ARGUMENTS...` from the folder of this program and returns its stdout. Throws
// InputError if the program is missing or exits with code 2, and RunError if it fails otherwise;
// the message is its stderr.
std::string run_sibling_program(const std::string& program,
                                const std::vector<std::string>& arguments);

struct ExitedChild {
  pid_t pid = 0;  // process id; 0: no child has ended
  int code = 0;   // exit code, or 128 + signal
};
// Returns a child which has ended since the last call, without waiting for one.
ExitedChild poll_exited_child();

// Runs the command line `argv` as ranks 0 to n - 1, which are copies of this process on this
// machine. Returns the exit code of the first rank which failed, else 0. After a failure the other
// ranks have 20 s to exit, then they are killed. An interrupt of this process interrupts them.
// Throws RunError if a rank cannot be started.
int launch_ranks(int n, char** argv);

// A private folder, removed with its content by the destructor. Throws RunError.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace yard
