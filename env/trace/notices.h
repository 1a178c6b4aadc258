// What was left out of a trace and what its reader made of it, as lines for a user.
#pragma once

#include <string>

#include "env/trace/job.h"

namespace yard {

// "left out: 3 x never started, the first at jobs.csv:7", of one of Trace::skipped.
inline std::string left_out_text(const Skipped& what) {
  return "left out: " + std::to_string(what.count) + " x " + what.reason + ", the first at " +
         what.first;
}

// The same of one of Trace::notices. A count of 0 marks a notice about the file as a whole,
// with its name instead of a row: columns that are not used, how times were understood.
inline std::string note_text(const Skipped& notice) {
  if (notice.count == 0) return notice.first + ": " + notice.reason;
  return notice_text(notice);
}

}  // namespace yard
