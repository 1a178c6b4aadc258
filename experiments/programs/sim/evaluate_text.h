// What evaluate found, as tables for people.
#pragma once

#include <vector>

#include "experiments/summary.h"

namespace yard::sim {

void print_cell(const CellResult& cell);                 // with everybody who played
void print_cells(const std::vector<CellResult>& cells);  // a line each
void print_summary(const std::vector<SummaryRow>& rows);

}  // namespace yard::sim
