// Logs which candidates opened a test split, and when. The last fifth of a recorded trace is its
// test split; tables report how often it was opened. The log is `evaluations/test_log.jsonl` in the
// folder of the file of cells or the folder above; openings are not logged if no such file exists.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace yard {

struct TestSplitOpening {
  std::string trace, sha256, cluster, from, to;
  std::vector<std::string> candidates = {};
  std::vector<std::string> digests = {};  // digests of the candidates' checkpoints
  std::string inputs = {};                // hash of the candidates' inputs; empty: unknown
};

// Returns the path of the log for the file of cells `cells`; empty if no log exists.
std::filesystem::path find_test_split_log(const std::filesystem::path& cells);

// Appends a line to the log and returns the number of lines about the opened trace. Does not log an
// opening again whose window and `inputs` are in the log, as after an interruption. Throws
// InputError if the log cannot be written or read.
int64_t log_test_split_opening(const std::filesystem::path& log, const TestSplitOpening& opening);

}  // namespace yard
