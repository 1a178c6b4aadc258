// The options --cells and --only: a command reads cells from a file, instead of one workload from
// its other options.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/evaluate/cells.h"

namespace yard::sim {

struct CellOptions {
  std::string file, only;

  // Adds --cells and --only to the option group Workload, and makes --trace and --cluster optional.
  // Requires: the options of CommonOptions are already in `app`.
  void add_to(CLI::App& app);

  // Reads the file given by --cells, if any. `also_excluded`: options not allowed with --cells,
  // besides the workload options. Throws InputError if the workload is given twice or not at all.
  std::optional<CellFile> read(const CLI::App& app,
                               const std::vector<std::string>& also_excluded) const;

  // Returns the cells which --only selects. Throws InputError for an unknown cell or missing trace.
  std::vector<CellSpec> selected(const CellFile& cells) const;
};

}  // namespace yard::sim
