// What a decision log says of a canary whose versions take turns on each cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serving/log/log_reader.h"

namespace yard {

struct CanaryOptions {
  std::string model;  // name of the model on trial
  // Decisions of versions with another digest are left out.
  std::string candidate_digest, current_digest;
  double from_unix_s = 0;  // earlier decisions are left out, by the server's clock
  double settle_s =
      0;  // not counted at the start of each turn, whose jobs the previous version left
};

struct CanaryTurns {
  // Of one version. A fallback is a decision that its policy should have made, but did not.
  struct Decisions {
    uint64_t all = 0, fallbacks = 0;
    double fallback_share() const {
      return all == 0 ? 0 : static_cast<double>(fallbacks) / static_cast<double>(all);
    }
  };
  Decisions candidate, current;

  // One element for each turn of the candidate between two turns of the current version. Both are
  // job-seconds: the number of jobs that wait or run, over the candidate's time in that turn.
  // `current_jobs`: the mean number of jobs in the two neighbouring turns, times the candidate's
  // time in the turn.
  std::vector<double> candidate_jobs, current_jobs;
};

// Reads a log to its end. Consecutive turns of one version count as one turn.
CanaryTurns read_canary_turns(LogReader& log, const CanaryOptions& options);

}  // namespace yard
