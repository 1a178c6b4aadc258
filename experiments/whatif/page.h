// A comparison as one HTML page that needs nothing but itself, to be sent to colleagues: the
// verdict first, what the log does not say, then tables and pictures, where it all comes from last.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/whatif/verdict.h"

namespace yard::whatif {

struct PageFacts {
  std::string source, cluster;
  std::vector<std::string> lacks;
  std::vector<std::pair<std::string, std::string>> provenance;  // names and values
};

// `jobs` are those that were compared.
std::string page_of(const Comparison& comparison, const std::vector<Verdict>& verdicts,
                    const std::vector<ComparedJob>& jobs, const PageFacts& facts);

}  // namespace yard::whatif
