// The options that simulate, evaluate and tune share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "env/base/file.h"
#include "experiments/replay.h"
#include "experiments/scenario.h"

namespace yard::sim {

struct CommonOptions {
  ScenarioOptions scenario;
  RunOptions run;
  std::string information, speeds, allow, columns;
  std::vector<std::string> set;
  std::vector<double> congestions;  // evaluate takes several
  bool json = false;
  std::string json_out;

  // `many_congestions`: whether --congestion takes a list.
  void add_to(CLI::App& app, bool many_congestions = false);

  // --speeds alone, for commands that have options of their own.
  void add_speeds(CLI::App& app);

  // Checks what CLI11 cannot, and gives --set's values to the trace's generator, the rules and, by
  // policy_settings(), to the policies. Call it once after parsing.
  void finish(const std::vector<std::string>& policies);

  // The settings of one of the policies that finish() was given, by its name or as it was given.
  RunOptions run_of(const std::string& policy) const;

  // Prints a result: as a document where --json says so, else by `table`. To be called before files
  // are written, so that who finds the disk full has seen it at least.
  void show(const nlohmann::ordered_json& document, const std::function<void()>& table) const;
  // Puts `files` in their places, and with them the document where --json-out says.
  void keep(const nlohmann::ordered_json& document, AtomicFiles& files) const;

 private:
  std::vector<std::pair<std::string, Settings>> policy_settings_;
};

// The same for policies, which may be named "NAME=POLICY"; no two may have one name.
std::vector<std::string> policies_of(const std::string& text, const std::string& option);

// Throws InputError, naming `option`, about a policy that is neither registered nor a path. Rules
// that bring their own policies look at those themselves.
void check_policies(const std::vector<std::string>& policies, const std::string& rules,
                    const std::string& option);

// "a,b" to its parts. Throws InputError, naming `option`, for an empty one or one named twice.
std::vector<std::string> list_of(const std::string& text, const std::string& option);

nlohmann::ordered_json cluster_json(const ClusterSpec& cluster);
nlohmann::ordered_json trace_json(const Scenario& scenario);

// Seconds as a JSON number: whole where they are.
nlohmann::ordered_json seconds_json(WideUs us);

// "0.875"; "n/a" where all jobs arrive at one moment, so that there is none.
std::string load_text(double load);

// Prints limits_notes() on stderr.
void note_limits(const std::vector<std::string>& notes);

// Says on stderr what was left out, how arrivals were scaled, and which of those who play go by
// limits that no job has.
void note_scenario(const Scenario& scenario, const std::vector<Contestant>& contestants,
                   SpeedLevel speeds = SpeedLevel::kTold);

}  // namespace yard::sim
