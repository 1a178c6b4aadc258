// What a log does not say, so that no simulation of it can know: one sentence each, printed before
// any figure.
#pragma once

#include <string>
#include <vector>

#include "env/trace/job.h"

namespace yard::whatif {

struct LogFacts {
  bool cluster_guessed = false;
  std::string cluster = {};             // as text
  bool has_eligible = false;            // a column says when a job might start: holds are not waits
  std::vector<std::string> notes = {};  // of policies that miss limits
};

// Sentences without a full stop. Requires: some job is scored.
std::vector<std::string> lacks_of(const Trace& trace, const LogFacts& facts);

// Whether the first lines of a log name a column for when jobs became eligible.
bool names_eligible(const std::string& path);

// Requires that some scored job has a logged start. Throws InputError with what to do.
void need_times(const Trace& trace);

}  // namespace yard::whatif
