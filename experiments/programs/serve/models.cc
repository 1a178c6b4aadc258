// `models`: lists the models of running servers, and tries, promotes and switches off versions.

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "env/base/core/error.h"
#include "env/base/text/print.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/serve/canary_review.h"
#include "experiments/programs/serve/commands.h"
#include "experiments/programs/serve/connection_options.h"
#include "serving/engine/model_catalog.h"
#include "serving/net/admin_client.h"

namespace yard {
namespace {

constexpr const char* kDefaultServer = "127.0.0.1:50052";
constexpr double kSettlingShare = 0.25;  // of a turn, which is left out

using Json = nlohmann::ordered_json;

const std::map<std::string, ModelAction> kActions = {
    {"list", ModelAction::kList},       {"load", ModelAction::kLoad},
    {"unload", ModelAction::kUnload},   {"mode", ModelAction::kMode},
    {"promote", ModelAction::kPromote}, {"roll-back", ModelAction::kRollBack}};

Json json_of(const pb::VersionStatus& of) {
  return {{"policy", of.policy()}, {"digest", of.digest()}, {"serving", of.serving()},
          {"reason", of.reason()}, {"detail", of.detail()}, {"envelope", of.envelope()}};
}

Json json_of(const pb::ModelStatus& of) {
  Json out = {{"model", of.name()},
              {"mode", mode_name(of.mode())},
              {"share", of.share()},
              {"turn_s", of.turn_s()},
              {"current", json_of(of.current())}};
  if (of.has_candidate()) out["candidate"] = json_of(of.candidate());
  if (of.has_previous()) out["previous"] = json_of(of.previous());
  out["shadow"] = {{"same", of.shadow_same()},
                   {"different", of.shadow_different()},
                   {"failed", of.shadow_failed()},
                   {"dropped", of.shadow_dropped()}};
  return out;
}

std::string text_of(const pb::VersionStatus& of) {
  std::string out = of.policy().empty() ? "none" : of.policy();
  if (!of.digest().empty()) out += " " + of.digest().substr(0, 12);
  if (!of.envelope().empty()) out += ", " + of.envelope();
  if (of.reason() != "NONE") out += " (" + of.reason() + ": " + of.detail() + ")";
  return out;
}

void print(const pb::ModelStatus& of) {
  std::string mode = mode_name(of.mode());
  if (of.mode() == pb::MODE_CANARY) {
    mode += fmt::format(" for {:g} % of the {}", 100 * of.share(),
                        of.turn_s() > 0 ? fmt::format("turns of {:g} s", of.turn_s()) : "clusters");
  }
  print_to(stdout, "  model {}: {}, {}\n", of.name().empty() ? "(none)" : of.name(), mode,
           text_of(of.current()));
  if (of.has_candidate()) print_to(stdout, "    candidate: {}\n", text_of(of.candidate()));
  if (of.has_previous()) print_to(stdout, "    previous: {}\n", text_of(of.previous()));
  if (of.shadow_same() + of.shadow_different() + of.shadow_failed() + of.shadow_dropped() > 0) {
    print_to(stdout,
             "    the candidate decided {} times alike, {} times otherwise, failed {} times, "
             "had no time {} times\n",
             of.shadow_same(), of.shadow_different(), of.shadow_failed(), of.shadow_dropped());
  }
}

struct ReviewOptions {
  std::string log;
  std::optional<double> from_unix_s;  // absent: since the canary began
  CanaryRule rule;
  bool apply = false;
};

void review(const ConnectionOptions& servers, const std::string& name, const ReviewOptions& options,
            std::chrono::milliseconds deadline, bool json) {
  if (options.log.empty()) throw InputError("--log", "the server's decision log", "none");
  if (servers.servers.size() != 1) {
    throw InputError("--server", "the one server that wrote the log",
                     std::to_string(servers.servers.size()) + " servers");
  }
  ModelChange change;
  change.model = name;
  const pb::ModelStatus model = find_model(change_models(servers, change, deadline).at(0), name);
  if (model.mode() != pb::MODE_CANARY || model.turn_s() <= 0) {
    throw InputError("model '" + model.name() + "'", "a canary with --turn",
                     mode_name(model.mode()));
  }
  const std::string& digest = model.candidate().digest();
  if (digest.empty() || digest == model.current().digest()) {
    throw InputError("candidate '" + model.candidate().policy() + "'",
                     "a version with a digest of its own, such as a checkpoint", "none");
  }
  LogReader log(options.log);
  const CanaryReview found = review_canary(
      read_canary_turns(log, {.model = model.name(),
                              .candidate_digest = digest,
                              .current_digest = model.current().digest(),
                              .from_unix_s = options.from_unix_s.value_or(model.mode_unix_s()),
                              .settle_s = model.turn_s() * kSettlingShare}),
      options.rule);

  const bool ends = options.apply && found.verdict != CanaryVerdict::kContinue;
  change.expected_digest = digest;
  if (ends && found.verdict == CanaryVerdict::kPromote) {
    change.action = ModelAction::kPromote;
  } else if (ends) {
    change.action = ModelAction::kUnload;  // ends the canary, too
  }
  if (ends) find_model(change_models(servers, change, deadline).at(0), name);
  if (json) {
    const Json out = {{"model", model.name()},
                      {"candidate", model.candidate().policy()},
                      {"verdict", verdict_name(found.verdict)},
                      {"reason", found.reason},
                      {"ratio", found.ratio},
                      {"interval", {found.interval.lo, found.interval.hi}},
                      {"turns", found.turns},
                      {"applied", ends}};
    std::puts(out.dump(2).c_str());
    return;
  }
  print_to(stdout, "{}: {}{}\n", verdict_name(found.verdict), found.reason, ends ? " (done)" : "");
}

}  // namespace

int run_models(int argc, char** argv) {
  ConnectionOptions options;
  options.servers = {kDefaultServer};
  ModelChange change;
  ReviewOptions reviewed;
  std::string action = "list", mode;
  int deadline_ms = 30'000;
  bool json = false;
  CLI::App app(
      "List the models of running servers. Load a candidate beside a model, try it as a shadow or "
      "canary, then promote it or roll back.",
      "models");
  app.option_defaults()->always_capture_default();
  app.add_option("action", action, "list, load, unload, mode, review, promote or roll-back")
      ->check(CLI::IsMember({"list", "load", "unload", "mode", "review", "promote", "roll-back"}));
  app.option_defaults()->group("Change");
  app.add_option("--model", change.model, "name of the model; default: the server's first");
  app.add_option("--policy", change.policy,
                 "`load`: candidate, as a policy's name or checkpoint:DIR on the server's machine")
      ->type_name(kPolicyType);
  app.add_option("--mode", mode,
                 "`mode`: on: the current version decides; off: the fallback decides; shadow: the "
                 "candidate's decisions are only compared; canary: it decides for a share")
      ->check(CLI::IsMember({"on", "off", "shadow", "canary"}));
  app.add_option("--share", change.share, "share of clusters or turns that the canary decides")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option(
         "--turn", change.turn_s,
         "seconds after which the versions change on a cluster in a canary; 0: each cluster "
         "keeps one version")
      ->check(CLI::Range(0.0, 2'592'000.0));
  app.option_defaults()->group("Review");
  app.add_option("--log", reviewed.log, "`review`: decision log of the server")->type_name("DIR");
  app.add_option("--from-unix", reviewed.from_unix_s,
                 "leave out decisions made before this Unix time, in seconds; default: since the "
                 "canary began");
  app.add_option("--margin", reviewed.rule.margin,
                 "promote a candidate that has at most so much more jobs in the system; 0.02: 2 %; "
                 "0: only one that has fewer")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--max-turns", reviewed.rule.max_turns,
                 "turns of the candidate after which it is dropped if no gain was shown")
      ->check(CLI::Range(8, 1'000'000));
  app.add_flag("--apply", reviewed.apply, "carry out a verdict to promote or to roll back");
  app.option_defaults()->group("Server");
  add_connection_options(app, options);
  app.add_option("--deadline-ms", deadline_ms, "deadline for each server, in milliseconds")
      ->check(CLI::Range(1, 3'600'000));
  app.option_defaults()->group("Output");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster models",
                     "yardmaster models load --policy checkpoint:runs/new/checkpoints/best",
                     "yardmaster models mode --mode canary --share 0.5 --turn 3600",
                     "yardmaster models review --log log --apply"});
  if (!parse_arguments(app, argc, argv)) return 0;
  if (action == "review") {
    review(options, change.model, reviewed, std::chrono::milliseconds(deadline_ms), json);
    return 0;
  }
  change.action = kActions.at(action);
  if (change.action == ModelAction::kMode && mode.empty()) {
    throw InputError("--mode", "on, off, shadow or canary", "none");
  }
  if (change.action == ModelAction::kLoad && change.policy.empty()) {
    throw InputError("--policy", "a policy's name or checkpoint:DIR", "none");
  }
  if (!mode.empty()) change.mode = parse_mode(mode);

  Json rows = Json::array();
  std::string failed;
  for (const ModelsAnswer& answer :
       change_models(options, change, std::chrono::milliseconds(deadline_ms))) {
    Json row = {{"server", answer.server}};
    if (!answer.error.empty()) {
      row["error"] = answer.error;
      failed += (failed.empty() ? "" : "; ") + answer.server + ": " + answer.error;
    } else if (!json) {
      print_to(stdout, "{}\n", answer.server);
    }
    row["models"] = Json::array();
    for (const pb::ModelStatus& model : answer.models.models()) {
      row["models"].push_back(json_of(model));
      if (!json) print(model);
    }
    rows.push_back(std::move(row));
  }
  if (json) std::puts(Json{{"servers", rows}}.dump(2).c_str());
  if (!failed.empty()) throw RunError(failed);
  return 0;
}

}  // namespace yard
