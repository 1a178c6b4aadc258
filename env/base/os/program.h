// Entry point of programs, which turns exceptions into a line on stderr and an exit code.
//   int main(int argc, char** argv) { return yard::run_main(argc, argv, run); }
#pragma once

#include <filesystem>
#include <string_view>

namespace yard {

// Runs fn(argc, argv) with the interrupt handler installed, or prints the version if the first
// argument is --version. Returns the result of fn(); 2 for bad input; 1 if the run failed or
// standard output could not be written; 130 if interrupted. If the reader of standard output stops
// (`| head`), the run continues, and further output is lost.
int run_main(int argc, char** argv, int (*fn)(int argc, char** argv));

// Returns the path of a program of this project: in the folder of the running program, or in
// ../libexec/yardmaster if installed. A missing program gets a path in the running program's
// folder.
std::filesystem::path path_of_yardmaster_program(std::string_view program);

}  // namespace yard
