// trace generate: writes what a generator makes, or the likeness of a recorded trace, with a report
// of how near it comes.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "env/trace/reader.h"
#include "env/trace/window.h"

namespace yard::sim {

struct GenerateOptionsOfCli {
  std::string generator, like, cluster, out, model_out, report_out, thin_by = "batch";
  std::vector<std::string> set;
  std::string columns;
  LoadOptions load;  // of the generator or of the trace to be like
  WindowOptions part;
  WindowOptions later;  // what the report compares with; nothing set: the fitted part
  double days = 0, offered = 0, thin = 1, congestion = 1;
  int samples = 5;
  bool check = false, json = false;

  void add_to(CLI::App& command);
  int run();
};

}  // namespace yard::sim
