// Options and helpers shared by the commands that run policies: simulate, evaluate, tune, ...
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "env/base/files/file.h"
#include "experiments/replay/replay.h"
#include "experiments/scenario/scenario.h"

namespace yard::sim {

struct CommonOptions {
  ScenarioOptions scenario;
  RunOptions run;
  std::string information, speeds, allow, columns;
  std::vector<std::string> set;
  std::vector<double> congestions;  // several values if add_to() has congestion_list
  bool json = false;
  std::string json_out;

  // Adds all options. `congestion_list`: whether --congestion takes a list of values.
  void add_to(CLI::App& app, bool congestion_list = false);

  // Adds only the option --speeds, for commands which do not call add_to().
  void add_speeds_option(CLI::App& app);

  // Checks option values beyond CLI11's checks, and distributes the values of --set to trace, rule
  // set, faults, models and policies. Call finish() once after parsing. Throws InputError.
  void finish(const std::vector<std::string>& policies);

  // Returns the run options of `policy` ("POLICY" or "NAME=POLICY"), which finish() was given.
  RunOptions run_of(const std::string& policy) const;

  // Prints `document` if --json is given; calls `table` if not. Call print_result() before save(),
  // since save() fails if a file cannot be written.
  void print_result(const nlohmann::ordered_json& document,
                    const std::function<void()>& table) const;
  // Commits `files`, and writes `document` if --json-out is given. Throws RunError on failure.
  void save(const nlohmann::ordered_json& document, AtomicFiles& files) const;

 private:
  std::vector<std::pair<std::string, Settings>> policy_settings_;
};

// Returns the document as text. Bytes of strings that are not UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& document, int indent = 2);

// Splits a comma-separated list of policies. A policy may be "NAME=POLICY"; names must be unique.
std::vector<std::string> split_policies(const std::string& text, const std::string& option);

// Throws InputError, naming `option`, if a policy is neither registered nor a path. Does nothing if
// the rule set `rules` has its own policies.
void check_policies(const std::vector<std::string>& policies, const std::string& rules,
                    const std::string& option);

// Splits "a,b". Throws InputError, naming `option`, if a part is empty or repeated.
std::vector<std::string> split_list(const std::string& text, const std::string& option);

// Prints `notes`, which missing_time_limits_notes() has returned, on stderr.
void print_time_limit_notes(const std::vector<std::string>& notes);

// Prints notes on stderr: rows skipped in the trace, how arrivals were scaled, and which policies
// use time limits or elastic sizes that no job has.
void print_scenario_notes(const Scenario& scenario,
                          const std::vector<PreparedPolicy>& prepared_policies,
                          SpeedInformation speeds = SpeedInformation::kExact);

}  // namespace yard::sim
