// Prints a comparison as terminal text: limitations of the log, figures by group, and the verdicts
// at the end, where a terminal keeps showing them.
#pragma once

#include <string>
#include <vector>

#include "experiments/whatif/verdict.h"

namespace yard::whatif {

struct ReportHeader {
  std::string source, cluster;
  std::vector<std::string> limitations;
};

std::string text_of(const Comparison& comparison, const std::vector<Verdict>& verdicts,
                    const ReportHeader& headings);

}  // namespace yard::whatif
