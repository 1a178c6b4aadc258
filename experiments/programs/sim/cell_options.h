// --cells and --only: the cells of a file in the place of one workload on one cluster.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/cells.h"

namespace yard::sim {

struct CellOptions {
  std::string file, only;

  // Requires: CommonOptions were added to `app`, whose --trace and --cluster are then no longer
  // required.
  void add_to(CLI::App& app);

  // Returns the file's content where there is one. `others`: options of the command that a file of
  // cells takes the place of, beside those that say a workload. Throws InputError where neither or
  // both are given.
  std::optional<CellFile> read(const CLI::App& app, const std::vector<std::string>& others) const;

  std::vector<CellSpec> selected(const CellFile& cells) const;
};

}  // namespace yard::sim
