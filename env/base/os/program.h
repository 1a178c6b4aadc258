// Entry point of programs: turns exceptions into a line on stderr and an exit code.
//   int main(int argc, char** argv) { return yard::run_main(argc, argv, run); }
#pragma once

namespace yard {

// Runs fn(argc, argv) with the interrupt handler installed, or prints the version if the first
// argument is --version. Returns its result; 2 for bad input; 1 if the run failed or standard
// output could not be written; 130 if interrupted. If the reader of standard output stops (`|
// head`), that is no failure: the run continues, and further output is lost.
int run_main(int argc, char** argv, int (*fn)(int argc, char** argv));

}  // namespace yard
