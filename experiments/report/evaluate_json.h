// Converts results of the command `evaluate` to rows of a JSON document.
#pragma once

#include <nlohmann/json.hpp>

#include "experiments/evaluate/summary.h"

namespace yard::sim {

nlohmann::ordered_json cell_json(const CellResult& cell);
nlohmann::ordered_json summary_json(const SummaryRow& row);

}  // namespace yard::sim
