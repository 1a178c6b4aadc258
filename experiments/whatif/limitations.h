// Limitations of a log: missing information, and how the log was read. Each limitation is one
// sentence, printed before any figure.
#pragma once

#include <string>
#include <vector>

#include "env/trace/core/job.h"

namespace yard::whatif {

struct LogInfo {
  bool cluster_inferred = false;
  std::string cluster = {};             // description of the cluster
  int64_t cluster_gpus = 0;             // number of GPUs; 0: not known
  bool has_eligible = false;            // whether the log has eligible times
  bool ignores_eligible = false;        // whether trace.arrival=Submit is set
  std::vector<std::string> notes = {};  // notes on GPU types and policies
};

// Returns the limitations as sentences without full stops. Requires: at least one scored job.
std::vector<std::string> log_limitations(const Trace& trace, const LogInfo& facts);

// Returns whether a log has the times at which jobs became eligible: a column of sacct, or
// "eligible" in "time" of sacct's JSON. `format`: the log's format; false unless it is sacct's.
bool has_eligible_times(const std::string& path, const std::string& format);

// Throws InputError if no scored job has a logged start time.
void require_logged_times(const Trace& trace);

}  // namespace yard::whatif
