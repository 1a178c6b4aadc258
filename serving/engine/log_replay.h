// Decides a log's requests again, in its order and as the server did: by the policy with what it
// remembered, by the heuristic that answered, with the guards in between.
#pragma once

#include <cstdint>
#include <string>

#include "serving/engine/model_store.h"
#include "serving/log/log_reader.h"

namespace yard {

struct LogReplay {
  uint64_t decisions = 0;      // of the logs, answered by policies or by the server's heuristics
  uint64_t identical = 0;      // of these, with the recorded actions and wake-up byte for byte
  uint64_t other_version = 0;  // of the policy's: recorded from other files than those replayed
  uint64_t failed = 0;         // the replayed policy or heuristic failed
  std::string first;           // the first decision that is not identical, in words
};

// Replays the rest of the log. `model`: decides where the log's policy decided; null: the
// registered policy of the recorded name does. Sums in `out`, so that several logs count together.
// Throws InputError if the log has a policy, or heuristic, which is needed and is none of this
// build.
void replay_log(LogReader& log, const Model* model, LogReplay& out);

}  // namespace yard
