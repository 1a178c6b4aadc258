// A comparison as one self-contained HTML page: verdicts, limits of the log, tables and charts,
// then provenance.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/whatif/verdict.h"

namespace yard::whatif {

struct PageFacts {
  std::string source, cluster;
  std::vector<std::string> limitations;
  std::vector<std::pair<std::string, std::string>> provenance;  // names and values
};

// `jobs`: those of the comparison.
std::string page_of(const Comparison& comparison, const std::vector<Verdict>& verdicts,
                    const std::vector<ComparedJob>& jobs, const PageFacts& facts);

}  // namespace yard::whatif
