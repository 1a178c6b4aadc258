// `drift`: checks with the decision log of the last days whether the served policy still is the
// best one, and lets the winner serve if the operator wants it.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

#include "env/base/core/error.h"
#include "env/base/text/print.h"
#include "env/base/text/text.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/serve/commands.h"
#include "experiments/programs/serve/connection_options.h"
#include "experiments/programs/serve/drift_check.h"
#include "experiments/run/append_file.h"
#include "serving/log/drift_reports.h"
#include "serving/net/admin_client.h"
#include "serving/snapshot/json.h"

namespace yard {
namespace {

namespace pb = ::yardmaster::v1;

constexpr const char* kDefaultServer = "127.0.0.1:50052";
// Good heuristics for live clusters that need no estimates of run times.
constexpr const char* kDefaultRivals = "las,srsf-history,greedy";

struct DriftArguments {
  ConnectionOptions connection;
  DriftOptions drift;
  std::string model, against = kDefaultRivals;
  int deadline_ms = 60'000;
  bool switches = false, json = false;
};

std::chrono::milliseconds deadline_of(const DriftArguments& arguments) {
  return std::chrono::milliseconds(arguments.deadline_ms);
}

// Makes a change on all servers.
void change(const DriftArguments& arguments, ModelAction action, const std::string& policy = "") {
  ModelChange what;
  what.action = action;
  what.model = arguments.model;
  what.policy = policy;
  const auto answers = change_models(arguments.connection, what, deadline_of(arguments));
  for (const ModelsAnswer& answer : answers) {
    if (!answer.error.empty()) throw RunError(answer.server + ": " + answer.error);
  }
}

std::string fallback_of(const DriftArguments& arguments) {
  const AdminAnswer answer =
      call_admin(arguments.connection, AdminCall::kStatus, deadline_of(arguments)).front();
  if (!answer.error.empty()) throw RunError(answer.server + ": " + answer.error);
  return answer.status.fallback();
}

// The answers of all servers.
std::vector<ModelsAnswer> list_models(const DriftArguments& arguments) {
  return change_models(arguments.connection, {}, deadline_of(arguments));
}

// The fallback, the version before the current one and the policies of --against, each once.
std::vector<std::string> rivals_of(const DriftArguments& arguments, const pb::ModelStatus& model,
                                   const std::string& fallback) {
  std::vector<std::string> all = {fallback, model.previous().policy()};
  for (const std::string_view one : split(arguments.against, ',')) all.emplace_back(one);
  std::vector<std::string> out;
  for (const std::string& one : all) {
    const bool known = one.empty() || one == arguments.drift.served;
    if (!known && std::ranges::find(out, one) == out.end()) out.push_back(one);
  }
  return out;
}

// Whether all servers still have the versions that were compared, in the mode `on`, and no
// candidate of an operator.
bool is_unchanged(const DriftArguments& arguments, const pb::ModelStatus& compared) {
  const auto same = [](const pb::VersionStatus& a, const pb::VersionStatus& b) {
    return a.policy() == b.policy() && a.digest() == b.digest();
  };
  return std::ranges::all_of(list_models(arguments), [&](const ModelsAnswer& answer) {
    const pb::ModelStatus now = find_model(answer, compared.name());
    return now.mode() == pb::MODE_ON && !now.has_candidate() &&
           same(now.current(), compared.current()) && same(now.previous(), compared.previous());
  });
}

// Lets the winner serve, unless an operator has set another mode than `on`, or has changed the
// versions during the comparison.
void act(const DriftArguments& arguments, const pb::ModelStatus& model, pb::DriftReport& report) {
  if (report.winner() == report.served()) return report.set_action(pb::DriftReport::KEPT);
  report.set_action(pb::DriftReport::REPORTED);
  if (!arguments.switches || model.mode() != pb::MODE_ON) return;
  if (!is_unchanged(arguments, model)) return;
  if (report.winner() == model.previous().policy()) {
    change(arguments, ModelAction::kRollBack);
    return report.set_action(pb::DriftReport::ROLLED_BACK);
  }
  change(arguments, ModelAction::kLoad, report.winner());
  change(arguments, ModelAction::kPromote);
  report.set_action(pb::DriftReport::PROMOTED);
}

std::string action_text(const pb::DriftReport& report) {
  switch (report.action()) {
    case pb::DriftReport::REPORTED:
      return report.winner() + " is better; nothing was changed";
    case pb::DriftReport::PROMOTED:
      return report.winner() + " is better and serves now; `yardmaster models roll-back` undoes it";
    case pb::DriftReport::ROLLED_BACK:
      return report.winner() + ", the version before, is better and serves again";
    default:
      return "no rival is better than " + report.served() + " beyond chance";
  }
}

void run_check(DriftArguments& arguments) {
  const pb::ModelStatus model = find_model(list_models(arguments).front(), arguments.model);
  DriftOptions& drift = arguments.drift;
  if (drift.served.empty()) drift.served = model.current().policy();
  if (drift.served.empty()) throw InputError("--server", "a server with a model", "none");
  drift.rivals = rivals_of(arguments, model, fallback_of(arguments));
  if (drift.rivals.empty()) throw InputError("--against", "policies to compare with", "none");
  AppendFile file(drift_reports_path(drift.log));
  if (!file.lock()) throw RunError(drift.log + ": another `yardmaster drift` is running");
  pb::DriftReport report = compare_with_rivals(drift);
  report.set_model(model.name());
  report.set_digest(model.current().digest());
  std::exception_ptr failed;
  try {
    act(arguments, model, report);
  } catch (const std::exception&) {
    failed = std::current_exception();  // the report of hours of replays is kept first
  }
  file.write(to_json_line(report) + "\n");
  if (failed) std::rethrow_exception(failed);
  if (arguments.json) {
    std::puts(to_json(report).c_str());
  } else {
    print_to(stdout, "{}{}\n", text_of(report), action_text(report));
  }
}

}  // namespace

int run_drift(int argc, char** argv) {
  DriftArguments arguments;
  arguments.connection.servers = {kDefaultServer};
  CLI::App app(
      "Replay the jobs of the last days of a decision log under the served policy and heuristics. "
      "The report goes to drift.jsonl in the log's folder.",
      "drift");
  app.option_defaults()->always_capture_default();
  app.option_defaults()->group("Comparison");
  app.add_option("--log", arguments.drift.log, "folder of the server's decision log")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--days", arguments.drift.days, "length of the replayed end of the log, in days")
      ->check(CLI::Range(0.001, 3650.0));
  app.add_option("--against", arguments.against,
                 "policies or tuned policies' files, joined by commas, besides the server's "
                 "fallback and the version before the current one")
      ->type_name(kPolicyType);
  app.add_option("--policy", arguments.drift.served,
                 "the served policy, if this machine has it under another path")
      ->type_name(kPolicyType);
  app.add_option("--draws", arguments.drift.draws, "draws of run times that the log lacks")
      ->check(CLI::Range(1, 100));
  app.add_option("--seed", arguments.drift.seed, "seed of the draws");
  app.option_defaults()->group("Server");
  app.add_option("--model", arguments.model, "name of the model; default: the server's first");
  app.add_flag("--switch", arguments.switches,
               "let the best rival serve if it is significantly better than the served policy");
  add_connection_options(app, arguments.connection);
  app.add_option("--deadline-ms", arguments.deadline_ms,
                 "deadline for each call of a server, in milliseconds")
      ->check(CLI::Range(1, 3'600'000));
  app.option_defaults()->group("Output");
  app.add_flag("--json", arguments.json, "print the report as JSON");
  set_examples(app,
               {"yardmaster drift --log decisions",
                "yardmaster drift --log decisions --days 14 --against las,tuned.yaml --switch"});
  if (!parse_arguments(app, argc, argv)) return 0;
  // The replays take all cores, but only while no server on this machine needs them.
  setpriority(PRIO_PROCESS, 0, 19);
  run_check(arguments);
  return 0;
}

}  // namespace yard
