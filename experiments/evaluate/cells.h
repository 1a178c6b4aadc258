// Reads files of cells. A cell is one window of a workload on one cluster at one congestion.
// docs/reference/metrics.md lists the keys of a file of cells.
//
//   CellFile file = read_cells("experiments/cells.yaml");
//   std::vector<CellSpec> cells = select_cells(file, {"validate", "test/itp-04/x3"});
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "experiments/replay/congestion.h"
#include "experiments/scenario/scenario.h"

namespace yard {

struct CellSpec {
  std::string name;             // group, trace and congestion: "test/itp-04/x3"
  ScenarioOptions scenario;     // including the congestion
  std::string sha256;           // hash of the trace; empty: hash not checked
  std::string profiles_sha256;  // hashes of the profile files, joined by commas
  int replicas = 4;
  uint64_t seed = 1;  // seed of the replicas
  int max_blocks = 24;
  // Cells on which the baseline is chosen, by geometric mean JCT; empty: chosen here in hindsight.
  std::vector<std::string> chosen_on;

  bool allows_preemption() const {
    return scenario.variation.allows.preempt;
  }  // whether the cluster allows preemption
};

struct CellFile {
  std::string path, sha256;
  std::vector<CellSpec> cells;
  std::vector<std::string> against;  // policies eligible as the baseline
};

// Reads and checks a file of cells without opening its traces. Throws InputError.
CellFile read_cells(const std::string& path);

// Returns the cells whose group, trace of a group ("test/itp-04") or name is in `only`, in file
// order; all cells if `only` is empty. Throws InputError for a name which matches no cell.
std::vector<CellSpec> select_cells(const CellFile& file, const std::vector<std::string>& only);

// Returns the cells of `file` on which the baselines of `cells` are chosen (CellSpec::chosen_on).
std::vector<CellSpec> validation_cells(const CellFile& file, const std::vector<CellSpec>& cells);

// Throws InputError if a trace or profile is missing or does not have the hash in its CellSpec.
void check_input_sha256(const std::vector<CellSpec>& cells);

// Returns every input of a cell that affects scores. Requires: the cell comes from a file of cells.
nlohmann::ordered_json inputs_of(const CellSpec& cell);

// Returns a hash of inputs_of(cell), which is stored with every score.
std::string hash_of(const CellSpec& cell);

// Makes a cell's scenario. `known`: the arrival scaling found earlier, if any. Requires: `source`
// is load_trace_and_cluster(cell.scenario).
Scenario scenario_of(const CellSpec& cell, const TraceOnCluster& source,
                     const std::optional<ArrivalCalibration>& known = {});

}  // namespace yard
