// Formats the notices about a trace, and about rows left out of it, as lines for users.
#pragma once

#include <string>

#include "env/trace/core/job.h"

namespace yard {

// Returns "left out: 3 x never started, the first at jobs.csv:7" for an entry of Trace::skipped.
inline std::string format_left_out_rows(const CountedRows& what) {
  return "left out: " + std::to_string(what.count) + " x " + what.reason + ", the first at " +
         what.first;
}

// Returns the line for users about an entry of Trace::notices. A notice with a count of 0 concerns
// the whole file, such as one about unused columns.
inline std::string format_notice(const CountedRows& notice) {
  if (notice.count == 0) return notice.first + ": " + notice.reason;
  return format_row_notice(notice);
}

}  // namespace yard
