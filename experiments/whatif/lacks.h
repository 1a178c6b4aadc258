// What a log does not say, so that no simulation of it can know, and how it was read: one sentence
// each, printed before any figure.
#pragma once

#include <string>
#include <vector>

#include "env/trace/job.h"

namespace yard::whatif {

struct LogFacts {
  bool cluster_guessed = false;
  std::string cluster = {};             // as text
  int64_t cluster_gpus = 0;             // 0: not known
  bool has_eligible = false;            // the log says when a job might start: holds are not waits
  bool by_submit = false;               // but trace.arrival=Submit leaves it aside
  std::vector<std::string> notes = {};  // about GPU types, and policies that lack what they use
};

// Sentences without a full stop. Requires: some job is scored.
std::vector<std::string> lacks_of(const Trace& trace, const LogFacts& facts);

// Whether a log says when jobs became eligible: by a column of sacct's, or by "eligible" in the
// "time" of sacct's JSON. `format` is its reader; no other reads such times.
bool names_eligible(const std::string& path, const std::string& format);

// Requires that some scored job has a logged start. Throws InputError with what to do.
void need_times(const Trace& trace);

}  // namespace yard::whatif
