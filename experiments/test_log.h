// Who opened a test split, and when. The last fifth of a recorded trace decides; a table says how
// often it was looked at before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace yard {

struct Opening {
  std::string trace, sha256, cluster, from, to;
  std::vector<std::string> candidates;
  std::vector<std::string> digests;  // of checkpoints
  std::string inputs;                // a hash of all that decides how they play; empty: not known
};

// Appends a line and returns how many lines are about this trace now. Whoever looks again at what
// the same candidates made of the same window, or goes on after an interruption, opens nothing
// anew: with equal `inputs`, there is a line already.
// Throws InputError where the log cannot be written or read.
int64_t log_opening(const std::filesystem::path& log, const Opening& opening);

}  // namespace yard
