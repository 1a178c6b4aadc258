// Decides a log's requests again in their order, each by the policy or heuristic that answered it,
// with the policy's memory of that time and the server's guards.
#pragma once

#include <cstdint>
#include <string>

#include "serving/engine/model_store.h"
#include "serving/log/log_reader.h"

namespace yard {

struct LogReplayResult {
  uint64_t decisions = 0;      // logged decisions made by policies or by the server's heuristics
  uint64_t identical = 0;      // of these, with the recorded actions and wake-up byte for byte
  uint64_t other_version = 0;  // decisions of a policy whose files differ from those replayed
  uint64_t failed = 0;         // decisions in which the replayed policy or heuristic failed
  std::string first;           // the first decision that is not identical, in words
};

// Replays the rest of the log. `model`: decides where the log's policy decided; null: the
// registered policy of the recorded name does. Adds to the counts in `out`, so that several logs
// count together. Throws InputError if a decision needs a policy or heuristic that this build does
// not have.
void replay_log(LogReader& log, const Model* model, LogReplayResult& out);

}  // namespace yard
