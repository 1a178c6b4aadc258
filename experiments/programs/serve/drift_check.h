// Replays the jobs of the last days of a decision log under the served policy and its rivals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serving/log/drift_reports.h"

namespace yard {

struct DriftOptions {
  std::string log;                  // folder of the decision log
  double days = 7;                  // days before the log's end in which jobs were submitted
  int draws = 3;                    // draws of the run times that the log lacks
  uint64_t seed = 1;                // seed of these draws
  std::string served;               // policy as for open_policy()
  std::vector<std::string> rivals;  // policies as for open_policy()
};

// Writes the fitted simulator to LOG/drift, as `yardmaster log fit` does, and replays its jobs.
// Returns the report without its fields `model`, `digest` and `action`. Throws InputError if the
// log or a policy cannot be used.
::yardmaster::v1::DriftReport compare_with_rivals(const DriftOptions& options);

// Returns a report as a table for a terminal.
std::string text_of(const ::yardmaster::v1::DriftReport& report);

}  // namespace yard
