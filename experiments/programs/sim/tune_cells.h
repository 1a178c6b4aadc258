// The cells of a policy search: cells from --cells, or one workload at each value of --congestion.
#pragma once

#include "experiments/cli/cell_options.h"
#include "experiments/cli/common_options.h"
#include "experiments/search/candidate_evaluator.h"

namespace yard::sim {

// Loads the cells. `replicas`: replicas per cell; unset: as in `file`, or 2. Throws InputError.
std::vector<TuneCell> load_tune_cells(const CommonOptions& options, const CellOptions& cells,
                                      const std::optional<CellFile>& file,
                                      std::optional<int> replicas,
                                      const std::function<void(const std::string&)>& progress);

}  // namespace yard::sim
