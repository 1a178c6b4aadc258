// Describes commands to users (--help) and to programs (--describe). Shell completion and the
// manual page are generated from the lines that `PROGRAM --describe` prints.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace yard {

// Adds complete command lines as examples to the end of the --help text of a command.
void set_examples(CLI::App& app, const std::vector<std::string>& lines);

// Wraps long lines in the help of a command and its subcommands, and lists the option --help last.
void prepare_help(CLI::App& app);

// Prints one line of JSON for the command called `name` and for each of its subcommands:
//   {"name":"trace describe","about":"...","options":[{"names":["--jobs"],"value":"INT",
//    "several":false,"required":false,"default":"","group":"Workload","help":"..."}],"footer":"..."}
// Names of positional arguments have no dash. "value" is empty for a flag, and "a|b|c" for an
// option which accepts only the words a, b and c.
void print_description(const CLI::App& app, const std::string& name);

}  // namespace yard
