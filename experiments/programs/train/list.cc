// `list agents|learners|networks|tasks`: registries which link LibTorch. Called by `yardmaster
// list`.

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "agents/train/agent.h"
#include "agents/train/registered.h"
#include "env/base/core/error.h"
#include "experiments/cli/listing.h"
#include "experiments/programs/train/commands.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

Json agents() {
  Json rows = Json::array();
  for (const std::string& name : agent_names()) {
    const Agent::Info info = agent_info(name);
    rows.push_back({{"name", name},
                    {"information", info.information},
                    {"source", info.source},
                    {"fidelity", info.fidelity},
                    {"about", info.about},
                    {"settings", settings_json(info.settings())}});
  }
  return rows;
}

Json parts(const std::vector<RegisteredInfo>& all) {
  Json rows = Json::array();
  for (const RegisteredInfo& one : all) {
    rows.push_back({{"name", one.name},
                    {"information", "-"},
                    {"source", one.source},
                    {"fidelity", "ours"},
                    {"about", one.about},
                    {"settings", settings_json(one.settings)}});
  }
  return rows;
}

Json tasks() {
  return {{{"name", "dispatch"},
           {"information", "history"},
           {"source", "this project; the window of 128 jobs as in RLScheduler, SC 2020"},
           {"fidelity", "ours"},
           {"about", "start a waiting job, preempt a running one, or end the decision"}},
          {{"name", "select"},
           {"information", "estimate"},
           {"source", "RLScheduler, SC 2020"},
           {"fidelity", "decision as published; features are ours"},
           {"about", "start one of the first 128 waiting jobs, or end the decision"}}};
}

}  // namespace

int run_list(int argc, char** argv) {
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
  } else if (kind == "tasks") {
    rows = tasks();
  } else {
    throw InputError("list", "agents, learners, networks or tasks", "'" + kind + "'");
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
    std::puts(fmt::format("{:<14} {:<13} {:<45} {}", text("name"), text("information"),
                          text("source"), text("fidelity"))
                  .c_str());
  }
  return 0;
}

}  // namespace yard
