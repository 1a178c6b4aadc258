// Limits of a log: missing information, and how it was read. Each limitation is one sentence,
// printed before any figure.
#pragma once

#include <string>
#include <vector>

#include "env/trace/core/job.h"

namespace yard::whatif {

struct LogInfo {
  bool cluster_inferred = false;
  std::string cluster = {};       // as text
  int64_t cluster_gpus = 0;       // 0: not known
  bool has_eligible = false;      // eligible times are logged, so holds are not waits
  bool ignores_eligible = false;  // trace.arrival=Submit: eligible times are ignored
  std::vector<std::string> notes =
      {};  // notes about GPU types and policies without the data they use
};

// Returns sentences without full stops. Requires: some job is scored.
std::vector<std::string> log_limitations(const Trace& trace, const LogInfo& facts);

// Whether a log has the times at which jobs became eligible: a column of sacct, or "eligible" in
// "time" of sacct's JSON. `format`: the log's reader; false for all formats but sacct's.
bool has_eligible_times(const std::string& path, const std::string& format);

// Throws InputError unless some scored job has a logged start.
void require_logged_times(const Trace& trace);

}  // namespace yard::whatif
