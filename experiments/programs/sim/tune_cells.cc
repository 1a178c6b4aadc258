#include "experiments/programs/sim/tune_cells.h"

#include "experiments/evaluate/cell_runner.h"
#include "experiments/programs/sim/option_checks.h"
#include "experiments/replay/load_scenario.h"

namespace yard::sim {
namespace {

constexpr int kReplicas = 2;

std::vector<TuneCell> cells_of_trace(const CommonOptions& options, int replicas) {
  const TraceOnCluster source = load_trace_on_cluster(options.scenario);
  std::vector<TuneCell> cells;
  for (const std::optional<double> congestion : congestions_of(options)) {
    cells.emplace_back(
        "cell_" + std::to_string(cells.size() + 1),
        make_scenario(source, options.scenario.window, congestion, options.scenario.cost_scale),
        replicas, options.scenario.seed);
  }
  return cells;
}

}  // namespace

std::vector<TuneCell> load_tune_cells(const CommonOptions& options, const CellOptions& cells,
                                      const std::optional<CellFile>& file,
                                      std::optional<int> replicas,
                                      const std::function<void(const std::string&)>& progress) {
  if (!file) return cells_of_trace(options, replicas.value_or(kReplicas));
  std::vector<TuneCell> out;
  TraceOnClusterCache sources;
  for (const CellSpec& spec : cells.selected(*file)) {
    progress("preparing " + spec.name);
    out.emplace_back(spec.name, scenario_of(spec, sources.of(spec.scenario)),
                     replicas.value_or(spec.replicas), spec.seed);
    out.back().hash = hash_of(spec);
  }
  return out;
}

}  // namespace yard::sim
