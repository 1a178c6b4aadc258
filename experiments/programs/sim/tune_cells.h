// The cells of a command that searches: a file's, or one workload at each congestion asked for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/programs/sim/cell_options.h"
#include "experiments/programs/sim/options.h"
#include "experiments/search/pool.h"

namespace yard::sim {

// `replicas`: of each cell; unset: those that the file says, or 2.
std::vector<TuneCell> tune_cells(const CommonOptions& options, const CellOptions& cells,
                                 const std::optional<CellFile>& file, std::optional<int> replicas,
                                 const std::function<void(const std::string&)>& progress);

}  // namespace yard::sim
