// Entry point of programs: turns exceptions into a line on stderr and an exit code.
//   int main(int argc, char** argv) { return yard::run_main(argc, argv, run); }
#pragma once

#include <filesystem>
#include <string_view>

namespace yard {

// Runs fn(argc, argv) with the interrupt handler installed, or prints the version if the first
// argument is --version. Returns its result; 2 for bad input; 1 if the run failed or standard
// output could not be written; 130 if interrupted. If the reader of standard output stops (`|
// head`), that is no failure: the run continues, and further output is lost.
int run_main(int argc, char** argv, int (*fn)(int argc, char** argv));

// Returns the path of another of our programs: in this program's folder, or in
// ../libexec/yardmaster if installed. If the program is missing, returns the path in this program's
// folder.
std::filesystem::path program_path(std::string_view program);

}  // namespace yard
