// Where policies are compared: a window of a workload, on a cluster, at a congestion, with all else
// that decides a score. A file names them in groups; docs/metrics.md says its keys.
//
//   CellFile file = read_cells("experiments/cells.yaml");
//   std::vector<CellSpec> cells = select_cells(file, {"validate", "test/itp-04/x3"});
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/scenario.h"

namespace yard {

struct CellSpec {
  std::string name;             // "test/itp-04/x3": group, trace, congestion
  ScenarioOptions scenario;     // with its congestion
  std::string sha256;           // of the trace; empty: whatever is there
  std::string profiles_sha256;  // of the measured speeds, file by file, joined by commas
  int replicas = 4;
  uint64_t seed = 1;  // of the replicas
  int most_blocks = 24;
  // Names of the cells on which the yardstick is chosen, by the geometric mean; none: here, in
  // hindsight.
  std::vector<std::string> chosen_on;

  bool stops() const { return scenario.variation.allows.preempt; }  // whether jobs may be stopped
};

struct CellFile {
  std::string path, sha256;
  std::vector<CellSpec> cells;
  std::vector<std::string> against;  // who may be the yardstick
};

// Reads what is said; traces are not opened. Throws InputError.
CellFile read_cells(const std::string& path);

// Returns the cells of the groups, of a group's trace ("test/itp-04") or of one name, in the file's
// order; all where `only` is empty. Throws InputError for a name that is nobody's.
std::vector<CellSpec> select_cells(const CellFile& file, const std::vector<std::string>& only);

// Those of the file's cells on which the yardsticks of `cells` are chosen.
std::vector<CellSpec> choosing_cells(const CellFile& file, const std::vector<CellSpec>& cells);

// Throws InputError where a trace is not there or is another than the file says.
void check_traces(const std::vector<CellSpec>& cells);

// Everything that decides what a policy makes of the cell. Requires: it comes from a file.
nlohmann::ordered_json inputs_of(const CellSpec& cell);

// A hash of inputs_of(), which every score carries.
std::string hash_of(const CellSpec& cell);

// Requires: `source` is load_source(cell.scenario); `known` is how its arrivals were scaled before.
Scenario scenario_of(const CellSpec& cell, const Source& source,
                     const std::optional<Calibration>& known = {});

}  // namespace yard
