// The commands of this program; argv[0] is the command's name.
#pragma once

#include <CLI/CLI.hpp>

namespace yard {

int run_serve(int argc, char** argv);
int run_decide(int argc, char** argv);
int run_log(int argc, char** argv);
int run_bench_served(int argc, char** argv);

// Parses the command's arguments into what was added to `app`. Returns false when only the help was
// asked for, which is then printed. Throws InputError for anything that the command does not know.
bool parse_arguments(CLI::App& app, int argc, char** argv);

}  // namespace yard
