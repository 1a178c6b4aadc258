// `list agents|learners|networks`: registries which link LibTorch. Called by `yardmaster
// list`.

#include <fmt/format.h>

#include <cstdio>

#include "agents/train/registered.h"
#include "env/base/core/error.h"
#include "env/base/text/print.h"
#include "env/task/select_info.h"
#include "experiments/cli/listing.h"
#include "experiments/programs/train/commands.h"
#include "policies/policy.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

Json row_of(const std::string& name, const std::string& information, const std::string& source,
            const std::string& fidelity, const std::string& about,
            const std::vector<Field>& settings) {
  return {{"name", name},     {"information", information},
          {"source", source}, {"fidelity", fidelity},
          {"about", about},   {"settings", settings_json(settings)}};
}

Json agents() {
  Json rows = Json::array();
  const auto add = [&](const std::string& name, const Agent::Info& info) {
    rows.push_back(row_of(name, information_level_name(info.level), info.source, info.fidelity,
                          info.about, info.settings()));
  };
  for (const std::string& name : AgentRegistry::names()) add(name, agent_info(name));
  add(kSelectName, job_selection_info());
  return rows;
}

Json parts(const std::vector<RegisteredInfo>& all) {
  Json rows = Json::array();
  for (const RegisteredInfo& one : all) {
    rows.push_back(row_of(one.name, "-", one.source, "ours", one.about, one.settings));
  }
  return rows;
}

}  // namespace

int run_list_training_components(int argc, char** argv) {
  std::string kind, name;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string given = argv[i];
    if (given == "--json") {
      json = true;
    } else if (kind.empty()) {
      kind = given;
    } else {
      name = given;
    }
  }
  Json rows;
  if (kind == "agents") {
    rows = agents();
  } else if (kind == "learners") {
    rows = parts(registered_learners());
  } else if (kind == "networks") {
    rows = parts(registered_networks());
  } else {
    throw InputError("list", "agents, learners or networks", "'" + kind + "'");
  }
  if (!name.empty()) rows = Json::array({listed_row(kind, rows, name)});
  if (json) {
    std::puts(Json{{kind, rows}}.dump(2).c_str());
    return 0;
  }
  if (!name.empty()) {
    std::fputs(listing_text(kind, rows[0]).c_str(), stdout);
    return 0;
  }
  for (const auto& row : rows) {
    const auto text = [&](const char* key) { return row[key].get<std::string>(); };
    print_to(stdout, "{:<14} {:<13} {:<45} {}\n", text("name"), text("information"), text("source"),
             text("fidelity"));
  }
  return 0;
}

}  // namespace yard
