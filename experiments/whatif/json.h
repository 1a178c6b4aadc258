// Writes a comparison as one JSON document.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/whatif/verdict.h"

namespace yard::whatif {

// Adds the keys baseline, logged, limitations, runs, verdicts, by_size, by_user, by_partition.
void add_json(const Comparison& comparison, const std::vector<Verdict>& verdicts,
              const std::vector<std::string>& limitations, nlohmann::ordered_json& out);

}  // namespace yard::whatif
