// The commands of this program: one file each, which enters itself.
//
//   const Command kList{"list", "what is registered", run_list};
#pragma once

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

#include "env/base/settings.h"
#include "env/base/text.h"

namespace yard::sim {

struct Command {
  Command(const char* name, const char* help, int (*run)(CLI::App& app, int argc, char** argv));

  const char* name;
  const char* help;
  int (*run)(CLI::App& app, int argc, char** argv);  // argv[0] is the command

  static std::vector<const Command*>& all();
};

// As yard::parse_arguments() (experiments/arguments.h); also refuses outputs that would overwrite
// an input or one another.
bool parse_arguments(CLI::App& app, int argc, char** argv);

// Takes whole numbers from `least` on that a T holds. CLI11 by itself takes others for the nearest
// one that fits.
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

// Takes one of these words.
CLI::Validator one_of(std::vector<std::string> words);

// Hands --columns to whatever reads the trace; empty: there are none.
void set_trace_columns(const std::string& columns, Settings& settings);
inline constexpr const char* kColumnsHelp =
    "what the trace calls its columns: job_id=JobName,submit_s=arrival_time,...";

// Settings as `key=value`, or `trace.key=value` as commands have it that set other things, too.
void set_trace_keys(const std::vector<std::string>& assignments, Settings& settings);

}  // namespace yard::sim
