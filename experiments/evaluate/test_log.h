// Logs which candidates opened a test split, and when. The last fifth of a recorded trace is the
// test split; tables report how often it was opened. The log is `evaluations/test_log.jsonl` in the
// folder of the file of cells or the folder above; without that file nothing is logged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace yard {

struct TestSplitOpening {
  std::string trace, sha256, cluster, from, to;
  std::vector<std::string> candidates = {};
  std::vector<std::string> digests = {};  // of checkpoints
  std::string inputs = {};                // hash of all inputs of the candidates; empty: unknown
};

// Returns the log for this file of cells; empty if there is none.
std::filesystem::path find_test_split_log(const std::filesystem::path& cells);

// Appends a line and returns the number of lines about this trace. An opening with the same window
// and `inputs` as a logged one, as after an interruption, is not logged again. Throws InputError if
// the log cannot be written or read.
int64_t log_test_split_opening(const std::filesystem::path& log, const TestSplitOpening& opening);

}  // namespace yard
