// Run times of jobs whose trace tells their work instead, from files of measurements:
//  - iterations over the steps a second of the job's kind, alone on the reference type: "v100" or,
//    in a file without it, the type on which that kind is fastest (Gavel);
//  - the time that goodputs give a job alone (Pollux).
#pragma once

#include <string>

#include "env/trace/job.h"

namespace yard {

struct Measurements {
  std::string throughputs;  // files; empty: not given
  std::string rates;
};

// Whether a job's run time is not in the trace.
bool lacks_run_times(const Trace& trace);

// Fills in what the trace lacks. Throws InputError where no file was given for it, and about the
// first job of which the file says nothing, unless such jobs may be skipped.
void fill_run_times(Trace& trace, const Measurements& files, bool skip_unusable);

}  // namespace yard
