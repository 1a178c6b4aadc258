// trace generate: writes a synthetic trace, from a generator or from a model fitted to a recorded
// trace. With a fitted model it also reports how closely the result matches the recording.
#pragma once

#include <CLI/CLI.hpp>

#include "env/trace/core/window.h"
#include "env/trace/formats/load_trace.h"

namespace yard::sim {

struct TraceGenerateCommand {
  std::string generator, like, cluster, out, model_out, report_out, thin_by = "batch";
  std::vector<std::string> set;
  std::string columns;
  LoadOptions load;  // options of the generator or of the recorded trace
  WindowOptions part;
  WindowOptions
      later;  // later part of the trace with which the report compares; unset: the fitted part
  double days = 0, target_load = 0, thin = 1, congestion = 1;
  int samples = 5;
  bool check = false, json = false;

  void add_to(CLI::App& command);
  int run();
};

}  // namespace yard::sim
