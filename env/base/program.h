// The one place of a program that catches: errors become a line on stderr and an exit code.
//   int main(int argc, char** argv) { return yard::run_main(argc, argv, run); }
#pragma once

namespace yard {

// Runs fn(argc, argv) under the interrupt handler. Returns its result; 2 after bad input; 1 when
// the run failed or its standard output could not be written; 130 when interrupted. A reader of
// standard output that has read enough (`| head`) is no failure: the run ends as usual, and what it
// prints from then on is lost.
int run_main(int argc, char** argv, int (*fn)(int argc, char** argv));

}  // namespace yard
