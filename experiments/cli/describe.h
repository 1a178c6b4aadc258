// Describes commands to users (--help) and to programs: shell completion and the manual page are
// generated from the lines that `PROGRAM --describe` prints.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace yard {

// Ends the --help of a command with complete command lines.
void set_examples(CLI::App& app, const std::vector<std::string>& lines);

// Prepares the help of a command and its subcommands: wraps long texts, moves --help to the end.
void prepare_help(CLI::App& app);

// Prints one line of JSON for the command called `name` and for each of its subcommands:
//   {"name":"trace describe","about":"...","options":[{"names":["--jobs"],"value":"INT",
//    "several":false,"required":false,"default":"","group":"Workload","help":"..."}],"footer":"..."}
// Names of positional arguments have no dash. The value of a flag is empty, that of an option which
// accepts certain words only is "a|b|c".
void print_description(const CLI::App& app, const std::string& name);

}  // namespace yard
