// Options and helpers which the commands that run policies share: simulate, evaluate, tune, ...
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
  std::vector<double> congestions;  // several with congestion_list
  bool json = false;
  std::string json_out;

  // `congestion_list`: whether --congestion takes a list.
  void add_to(CLI::App& app, bool congestion_list = false);

  // Adds --speeds only, for commands with their own set of options.
  void add_speeds_option(CLI::App& app);

  // Checks what CLI11 cannot, and distributes the values of --set to trace, rule set, faults,
  // models and policies. Call it once after parsing. Throws InputError.
  void finish(const std::vector<std::string>& policies);

  // Returns the run options of a policy of finish(). `policy`: its name, or "NAME=POLICY".
  RunOptions run_of(const std::string& policy) const;

  // Prints `document` with --json, else calls `table`. Call this function before save(), which
  // fails if a file cannot be written.
  void print_result(const nlohmann::ordered_json& document,
                    const std::function<void()>& table) const;
  // Commits `files`, and with --json-out the document. Throws RunError if writing fails.
  void save(const nlohmann::ordered_json& document, AtomicFiles& files) const;

 private:
  std::vector<std::pair<std::string, Settings>> policy_settings_;
};

// Returns the document as text. Replaces bytes which are not UTF-8.
std::string json_text(const nlohmann::ordered_json& document, int indent = 2);

// Like split_list(), for policies: each may be "NAME=POLICY", and names must be unique.
std::vector<std::string> split_policies(const std::string& text, const std::string& option);

// Throws InputError, naming `option`, if a policy is neither registered nor a path. Does nothing
// for rule sets with their own policies.
void check_policies(const std::vector<std::string>& policies, const std::string& rules,
                    const std::string& option);

// Splits "a,b". Throws InputError, naming `option`, if a part is empty or repeated.
std::vector<std::string> split_list(const std::string& text, const std::string& option);

// Prints the result of missing_time_limits_notes() on stderr.
void print_time_limit_notes(const std::vector<std::string>& notes);

// Prints notes on stderr: skipped rows, how arrivals were scaled, and which policies use time
// limits or elastic sizes that no job has.
void print_scenario_notes(const Scenario& scenario,
                          const std::vector<PreparedPolicy>& prepared_policies,
                          SpeedInformation speeds = SpeedInformation::kExact);

}  // namespace yard::sim
