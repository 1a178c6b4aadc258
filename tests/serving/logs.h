// What the tests of the decision log share.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "serving/log/decision_log.h"
#include "serving/log/log_reader.h"

namespace yard::testing {

// A snapshot of two jobs at `time_s`, and beside it about `bytes` bytes of names.
std::shared_ptr<const pb::DecideRequest> snapshot_at(double time_s, size_t bytes = 0);

// What is logged with it: `id` is the decision's.
pb::DecideResponse answer_of(const std::string& id);

// Adds `count` decisions, waits until they are written or dropped.
void fill(DecisionLog& log, int count, size_t bytes = 0);

// All records of a log; `damage` gets what was found on the way.
std::vector<pb::LogRecord> read_log(const std::filesystem::path& path,
                                    LogReader::Damage* damage = nullptr);

// Bytes of all files of a log.
uint64_t bytes_of_log(const std::filesystem::path& folder);

}  // namespace yard::testing
