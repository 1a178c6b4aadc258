// Helpers that the tests of the decision log share.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "serving/log/decision_log.h"
#include "serving/log/log_reader.h"

namespace yard::testing {

// A snapshot of two jobs at `time_s`, with about `bytes` bytes of job names.
std::shared_ptr<const pb::DecideRequest> snapshot_at(double time_s, size_t bytes = 0);

// A response with the decision id `id`, to log with a snapshot.
pb::DecideResponse answer_of(const std::string& id);

// Adds `count` decisions and waits until they are written or dropped.
void fill(DecisionLog& log, int count, size_t bytes = 0);

// Reads all records of a log. Counts the damage found in `damage`, if not null.
std::vector<pb::LogRecord> read_log(const std::filesystem::path& path,
                                    LogReader::Damage* damage = nullptr);

// The total size of a log's files in bytes.
uint64_t bytes_of_log(const std::filesystem::path& folder);

}  // namespace yard::testing
