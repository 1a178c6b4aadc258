// `models`: lists the models of running servers, and tries, promotes and switches off versions.

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "env/base/core/error.h"
#include "env/base/text/print.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/serve/commands.h"
#include "experiments/programs/serve/connection_options.h"
#include "serving/engine/model_catalog.h"
#include "serving/net/admin_client.h"

namespace yard {
namespace {

constexpr const char* kDefaultServer = "127.0.0.1:50052";

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

}  // namespace

int run_models(int argc, char** argv) {
  ConnectionOptions options;
  options.servers = {kDefaultServer};
  ModelChange change;
  std::string action = "list", mode;
  int deadline_ms = 30'000;
  bool json = false;
  CLI::App app(
      "List the models of running servers. Load a candidate beside a model, try it as a shadow or "
      "canary, then promote it or roll back.",
      "models");
  app.option_defaults()->always_capture_default();
  app.add_option("action", action, "list, load, unload, mode, promote or roll-back")
      ->check(CLI::IsMember({"list", "load", "unload", "mode", "promote", "roll-back"}));
  app.option_defaults()->group("Change");
  app.add_option("--model", change.model, "name of the model; default: the server's first");
  app.add_option("--policy", change.policy,
                 "`load`: candidate, as a policy's name or checkpoint:DIR on the server's machine")
      ->type_name(kPolicyType);
  app.add_option("--mode", mode,
                 "`mode`: on: the current version decides; off: the fallback decides; shadow: the "
                 "candidate's decisions are only compared; canary: it decides for a share")
      ->check(CLI::IsMember({"on", "off", "shadow", "canary"}));
  app.add_option("--share", change.share, "part that the candidate decides in a canary, 0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option(
         "--turn", change.turn_s,
         "seconds after which the versions change on a cluster in a canary; 0: each cluster "
         "keeps one version")
      ->check(CLI::Range(0.0, 2'592'000.0));
  app.option_defaults()->group("Server");
  add_connection_options(app, options);
  app.add_option("--deadline-ms", deadline_ms, "deadline for each server, in milliseconds")
      ->check(CLI::Range(1, 3'600'000));
  app.option_defaults()->group("Output");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster models",
                     "yardmaster models load --policy checkpoint:runs/new/checkpoints/best",
                     "yardmaster models mode --mode canary --share 0.5 --turn 3600"});
  if (!parse_arguments(app, argc, argv)) return 0;
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
