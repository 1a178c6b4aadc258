// Reads files of cells. A cell is a window of a workload on a cluster at a congestion, with every
// other input of a score. docs/reference/metrics.md lists the keys.
//
//   CellFile file = read_cells("experiments/cells.yaml");
//   std::vector<CellSpec> cells = select_cells(file, {"validate", "test/itp-04/x3"});
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "experiments/replay/congestion.h"
#include "experiments/scenario/scenario.h"

namespace yard {

struct CellSpec {
  std::string name;             // "test/itp-04/x3": group, trace, congestion
  ScenarioOptions scenario;     // with its congestion
  std::string sha256;           // sha256 of the trace; empty: it is not checked
  std::string profiles_sha256;  // sha256 of each profile file, joined by commas
  int replicas = 4;
  uint64_t seed = 1;  // of the replicas
  int max_blocks = 24;
  // Cells whose geometric mean JCT chooses the baseline. Empty: the baseline is chosen in
  // hindsight, on the scored cell itself.
  std::vector<std::string> chosen_on;

  bool allows_preemption() const {
    return scenario.variation.allows.preempt;
  }  // whether preemption is allowed
};

struct CellFile {
  std::string path, sha256;
  std::vector<CellSpec> cells;
  std::vector<std::string> against;  // policies eligible as the baseline
};

// Reads and checks the file without opening its traces. Throws InputError.
CellFile read_cells(const std::string& path);

// Returns the cells of the given groups, group traces ("test/itp-04") or cell names, in file order.
// Returns all cells if `only` is empty. Throws InputError for a name without a match.
std::vector<CellSpec> select_cells(const CellFile& file, const std::vector<std::string>& only);

// Returns the cells of the file on which the baselines of `cells` are chosen.
std::vector<CellSpec> validation_cells(const CellFile& file, const std::vector<CellSpec>& cells);

// Throws InputError if a trace or profile is missing or its sha256 differs from the file's.
void check_input_sha256(const std::vector<CellSpec>& cells);

// Returns every input of a policy's result in the cell. Requires: the cell comes from a file.
nlohmann::ordered_json inputs_of(const CellSpec& cell);

// Returns a hash of inputs_of(), which every score carries.
std::string hash_of(const CellSpec& cell);

// Requires: `source` is load_trace_on_cluster(cell.scenario). `known`: an earlier calibration, if
// any.
Scenario scenario_of(const CellSpec& cell, const TraceOnCluster& source,
                     const std::optional<Calibration>& known = {});

}  // namespace yard
