// Computes run times of jobs whose trace gives their work instead, from files of measurements:
// - Gavel's throughputs: iterations over steps per second of the job's kind, alone on the type
// "v100", or on its fastest type if the file lacks "v100";
// - Pollux' goodputs: the time that the job takes alone.
#pragma once

#include <string>
#include <vector>

#include "env/trace/core/job.h"

namespace yard {

struct RunTimeFiles {
  std::string throughputs;  // path of Gavel's throughputs; empty: not given
  std::string rates;
  // The files that the rule set itself reads: "throughputs", "rates".
  std::vector<std::string> read_by_rules = {};
};

bool lacks_run_times(const Trace& trace);

// Fills in missing run times. Throws InputError if the needed file was not given, or about the
// first job that the file lacks. With `skip_unusable`, leaves out jobs that the file lacks. Adds a
// notice about a file that neither a job needs nor the rule set reads.
void fill_run_times(Trace& trace, const RunTimeFiles& files, bool skip_unusable);

}  // namespace yard
