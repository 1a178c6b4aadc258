// The command `trace generate`: writes a synthetic trace, from a generator or a model fitted to a
// recorded trace. For a fitted model, the command also reports how closely the traces match.
#pragma once

#include <CLI/CLI.hpp>

#include "env/trace/core/window.h"
#include "env/trace/formats/load_trace.h"

namespace yard::sim {

struct TraceGenerateCommand {
  std::string generator, like, cluster, out, model_out, report_out, thin_by = "batch";
  std::vector<std::string> set;
  std::string columns;
  LoadOptions load;  // options of the generator or recorded trace
  WindowOptions part;
  WindowOptions later;  // part to compare with; unset: the fitted part
  double days = 0, target_load = 0, thin = 1, congestion = 1;
  int samples = 5;
  bool check = false, json = false;

  void add_to(CLI::App& command);
  int run();
};

}  // namespace yard::sim
