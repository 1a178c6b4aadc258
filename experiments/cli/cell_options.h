// --cells and --only: take cells from a file instead of one workload on one cluster.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/evaluate/cells.h"

namespace yard::sim {

struct CellOptions {
  std::string file, only;

  // Adds both options to the group Workload, and makes --trace and --cluster optional.
  // Requires: CommonOptions were added to `app`.
  void add_to(CLI::App& app);

  // Returns the content of --cells, if given. `also_excluded`: options which --cells excludes
  // besides the workload options. Throws InputError if the workload is given twice or not at all.
  std::optional<CellFile> read(const CLI::App& app,
                               const std::vector<std::string>& also_excluded) const;

  // Returns the cells which --only selects. Throws InputError for unknown cells or missing traces.
  std::vector<CellSpec> selected(const CellFile& cells) const;
};

}  // namespace yard::sim
