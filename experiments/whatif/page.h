// Renders a comparison as one self-contained HTML page: verdicts, limitations of the log, tables
// and charts, and provenance.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/whatif/verdict.h"

namespace yard::whatif {

struct PageFacts {
  std::string source, cluster;
  std::vector<std::string> limitations;
  std::vector<std::pair<std::string, std::string>> provenance;  // pairs of name and value
};

// Returns the HTML page. `jobs`: the jobs from which `comparison` was made.
std::string page_of(const Comparison& comparison, const std::vector<Verdict>& verdicts,
                    const std::vector<ComparedJob>& jobs, const PageFacts& facts);

}  // namespace yard::whatif
