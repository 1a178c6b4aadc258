// The commands of this program. The file of a command registers the command:
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
  int (*run)(CLI::App& app, int argc, char** argv);  // argv[0] is the command

  static std::vector<const Command*>& all();
};

// Runs a command. argv[0] is its name.
int run_command(const Command& command, int argc, char** argv);

// Like yard::parse_arguments() (experiments/cli/arguments.h). Parses argv as the function above
// does. Also throws InputError if an output would overwrite an input or another output.
bool parse_arguments(CLI::App& app, int argc, char** argv);

// Accepts whole numbers from `least` to the largest T. CLI11 alone would clamp other numbers.
template <class T>
CLI::Validator whole_number(T least) {
  const auto check = [least](const std::string& text) -> std::string {
    const auto value = parse_number<T>(text);
    if (value && *value >= least) return {};
    return "expected a whole number from " + shortest(least) + " to " +
           shortest(std::numeric_limits<T>::max()) + ", got '" + text + "'";
  };
  return {check, ""};
}

// Passes --columns to the trace reader's settings. Does nothing if `columns` is empty.
void set_trace_columns(const std::string& columns, Settings& settings);
inline constexpr const char* kColumnsHelp =
    "column names of the trace, as FIELD=COLUMN: job_id=JobName,submit_s=arrival_time,...";

// Sets `key=value` or `trace.key=value`, the form which other commands use. Throws InputError.
void set_trace_keys(const std::vector<std::string>& assignments, Settings& settings);

}  // namespace yard::sim
