// Computes run times of jobs whose trace gives their work instead, from files of measurements:
//  - iterations over steps per second of the job's kind, alone on the reference type: "v100" or, in
//    a file without it, the type on which that kind is fastest (Gavel);
//  - the time that goodputs give a job alone (Pollux).
#pragma once

#include <string>
#include <vector>

#include "env/trace/core/job.h"

namespace yard {

struct RunTimeFiles {
  std::string throughputs;  // paths; empty: not given
  std::string rates;
  // Which of these the rule set reads itself: "throughputs", "rates".
  std::vector<std::string> read_by_rules = {};
};

bool lacks_run_times(const Trace& trace);

// Fills in missing run times. Throws InputError if no file was given for them, or about the first
// job missing in the file. With `skip_unusable`, such jobs are left out instead. Adds a notice
// about a file which neither a job needs nor the rule set reads.
void fill_run_times(Trace& trace, const RunTimeFiles& files, bool skip_unusable);

}  // namespace yard
