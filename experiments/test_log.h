// Which candidates opened a test split, and when. The last fifth of a recorded trace decides; a
// table says how often it was looked at before. Only a project that keeps such a log has one: the
// file `evaluations/test_log.jsonl` in the folder of a file of cells, or in the folder above.
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

// Returns the log of the project that the file of cells belongs to; empty where it keeps none.
std::filesystem::path find_test_log(const std::filesystem::path& cells);

// Appends a line and returns how many lines are about this trace now. Another look at what the
// same candidates made of the same window, as after an interruption, opens nothing anew: with equal
// `inputs`, there is a line already.
// Throws InputError where the log cannot be written or read.
int64_t log_opening(const std::filesystem::path& log, const Opening& opening);

}  // namespace yard
