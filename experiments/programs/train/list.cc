// `list agents|tasks`: what can be trained. `yardmaster list` hands these two over.

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "env/base/error.h"
#include "experiments/programs/train/commands.h"

namespace yard {

int run_list(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  const bool json = argc > 2 && std::string(argv[2]) == "--json";
  nlohmann::ordered_json rows;
  if (kind == "agents") {
    rows = {{{"name", "pilot"},
             {"information", "history"},
             {"source", "this project"},
             {"fidelity", "ours"},
             {"about", "PPO on top of an index of expected remaining service"}}};
  } else if (kind == "tasks") {
    rows = {{{"name", "dispatch"},
             {"information", "history"},
             {"source", "this project; the window of 128 jobs as in RLScheduler, SC 2020"},
             {"fidelity", "ours"},
             {"about", "which waiting job starts, which running one stops, or nothing more"}},
            {{"name", "select"},
             {"information", "estimate"},
             {"source", "RLScheduler, SC 2020"},
             {"fidelity", "its decision, features of our own"},
             {"about", "which of the first 128 waiting jobs starts next, or nothing more"}}};
  } else {
    throw InputError("list", "agents or tasks", "'" + kind + "'");
  }
  if (json) {
    std::puts(nlohmann::ordered_json{{kind, rows}}.dump(2).c_str());
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
