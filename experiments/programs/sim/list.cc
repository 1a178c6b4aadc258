// list: prints what is registered, one line each: name, level of information, source, fidelity.
// With a name it prints one entry with its settings.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "env/base/core/error.h"
#include "env/cluster/ready.h"
#include "env/trace/formats/load_trace.h"
#include "experiments/cli/command.h"
#include "experiments/cli/common_options.h"
#include "experiments/cli/listing.h"
#include "experiments/report/text_table.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

Json row_of(const std::string& name, const std::string& information, const std::string& source,
            const std::string& fidelity, const std::string& about) {
  return {{"name", name},
          {"information", information},
          {"source", source},
          {"fidelity", fidelity},
          {"about", about}};
}

Json list_policies() {
  Json out = Json::array();
  for (const std::string& name : PolicyRegistry::names()) {
    const Policy::Info& info = PolicyRegistry::info(name);
    out.push_back(
        row_of(name, information_level_name(info.level), info.source, info.fidelity, info.about));
    out.back()["preemptive"] = info.preemptive;
    out.back()["servable"] = info.servable;
    out.back()["settings"] = settings_json(info.fields());
  }
  return out;
}

Json list_rules() {
  Json out = Json::array();
  for (const std::string& name : RuleSetRegistry::names()) {
    const RuleSet::Info& info = RuleSetRegistry::info(name);
    out.push_back(row_of(name, "-", info.source, info.fidelity, info.about));
    out.back().update({{"policies", info.policies},
                       {"placements", info.placements},
                       {"settings", settings_json(info.fields())},
                       {"needs", info.needs},
                       {"round_s", info.round_s},
                       {"start_s", info.start_s}});
  }
  return out;
}

Json list_traces() {
  Json out = Json::array();
  for (const TraceSource& source : list_trace_sources()) {
    out.push_back(row_of(source.name, "-", source.help, "-", source.help));
    out.back()["settings"] = settings_json(source.fields);
  }
  return out;
}

Json list_clusters() {
  Json out = Json::array();
  for (const PredefinedCluster& cluster : predefined_clusters()) {
    out.push_back(row_of(cluster.name, "-", cluster.path, "-", cluster.about));
  }
  return out;
}

// Replaces this process by yardmaster-train, which has these registries. Throws RunError.
[[noreturn]] void exec_trainer(char** argv) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = self.parent_path() / "yardmaster-train";
  char name[] = "yardmaster";
  std::vector<char*> arguments{name};
  for (char** argument = argv; *argument != nullptr; ++argument) arguments.push_back(*argument);
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw RunError("list: cannot start " + program + ": " + std::strerror(errno));
}

int run_list(CLI::App& app, int argc, char** argv) {
  std::string kind, name;
  bool json = false;
  app.add_option("kind", kind, "kind of entries to list")
      ->required()
      ->check(
          one_of({"policies", "agents", "learners", "networks", "traces", "clusters", "rules"}));
  app.option_defaults()->group("Output");
  app.add_option("name", name, "entry to describe in full, with its settings")->default_str("");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster list policies", "yardmaster list policies las"});
  if (!parse_arguments(app, argc, argv)) return 0;
  if (kind == "agents" || kind == "learners" || kind == "networks") exec_trainer(argv);
  Json rows = kind == "policies"   ? list_policies()
              : kind == "rules"    ? list_rules()
              : kind == "clusters" ? list_clusters()
                                   : list_traces();
  if (!name.empty()) rows = Json::array({listed_row(kind, rows, name)});
  if (json) {
    std::puts(Json{{kind, rows}}.dump(2).c_str());
    return 0;
  }
  if (!name.empty()) {
    std::fputs(listing_text(kind, rows[0]).c_str(), stdout);
    return 0;
  }
  std::vector<const char*> keys = {"name", "information", "source", "fidelity"};
  if (kind == "traces" || kind == "clusters") keys = {"name", "about"};  // no level or source
  TextTable table({keys.begin(), keys.end()}, keys.size());
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (const char* key : keys) cells.push_back(row[key].get<std::string>());
    table.row(std::move(cells));
  }
  std::fputs(table.text().c_str(), stdout);
  return 0;
}

const Command kList{
    "list", "List what is registered, one line each; with a NAME, describe that entry in full.",
    run_list};

}  // namespace
}  // namespace yard::sim
