// Commands, each registered with its program by the command's source file:
//   const Command kList{"list", "List registered entries.", run_list};
#pragma once

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

#include "env/base/config/settings.h"
#include "env/base/text/text.h"
#include "experiments/cli/arguments.h"

namespace yard::sim {

struct Command {
  Command(const char* name, const char* help, int (*run)(CLI::App& app, int argc, char** argv));

  const char* name;
  const char* help;
  int (*run)(CLI::App& app, int argc, char** argv);  // argv[0]: the command's name

  static std::vector<const Command*>& all();
};

// Runs a command. argv[0] is the command's name.
int run_command(const Command& command, int argc, char** argv);

// Does what yard::parse_arguments() (experiments/cli/arguments.h) does. Throws InputError, too, if
// an output file of the command would overwrite an input file or another output file.
bool parse_arguments(CLI::App& app, int argc, char** argv);

// Accepts whole numbers from `least` to the largest T. CLI11 alone clamps numbers beyond T's range.
template <class T>
CLI::Validator whole_number(T least) {
  const auto check = [least](const std::string& text) -> std::string {
    const auto value = parse_number<T>(text);
    if (value && *value >= least) return {};
    return "expected a whole number from " + shortest_text(least) + " to " +
           shortest_text(std::numeric_limits<T>::max()) + ", got '" + text + "'";
  };
  return {check, ""};
}

// Adds the value of --columns to the trace reader's settings. Does nothing if `columns` is empty.
void set_trace_columns(const std::string& columns, Settings& settings);
inline constexpr const char* kColumnsHelp =
    "column names of the trace, as FIELD=COLUMN: job_id=JobName,submit_s=arrival_time,...";

// Adds assignments of the form `key=value` or `trace.key=value` to the settings. Throws InputError.
void set_trace_keys(const std::vector<std::string>& assignments, Settings& settings);

}  // namespace yard::sim
