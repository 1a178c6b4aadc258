// A command of this program as a process of its own: what goes wrong in it, even a kill, stays
// there.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace yard {

// Starts `yardmaster-train ARGUMENTS...`; what it prints goes to the end of `log`. It ends with
// this process. Throws RunError.
pid_t start_child(const std::vector<std::string>& arguments, const std::filesystem::path& log);

// Runs `program ARGUMENTS...`, which lies beside this one, and waits for its end. Returns what it
// printed. Throws InputError where it is not in this build or refuses its input, with its words;
// RunError where it fails.
std::string run_beside(const std::string& program, const std::vector<std::string>& arguments);

struct Ended {
  pid_t pid = 0;  // 0: none has
  int code = 0;   // 128 + signal where one ended it
};
Ended any_ended();

}  // namespace yard
