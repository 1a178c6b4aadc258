// Prints results of the command `evaluate` as text tables.
#pragma once

#include <vector>

#include "experiments/evaluate/summary.h"

namespace yard::sim {

void print_cell(const CellResult& cell);                 // with every policy
void print_cells(const std::vector<CellResult>& cells);  // prints one line per cell
void print_summary(const std::vector<SummaryRow>& rows);

}  // namespace yard::sim
