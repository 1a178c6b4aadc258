// A comparison as terminal text: limits of the log, figures by group, and the verdicts last, where
// they remain visible.
#pragma once

#include <string>
#include <vector>

#include "experiments/whatif/verdict.h"

namespace yard::whatif {

struct Headings {
  std::string source, cluster;
  std::vector<std::string> limitations;
};

std::string text_of(const Comparison& comparison, const std::vector<Verdict>& verdicts,
                    const Headings& headings);

}  // namespace yard::whatif
