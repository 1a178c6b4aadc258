#include "tests/serving/log/logs.h"

#include <gtest/gtest.h>

#include "tests/serving/requests.h"

namespace yard::testing {

std::shared_ptr<const pb::DecideRequest> snapshot_at(double time_s, size_t bytes) {
  pb::DecideRequest request = full_cluster();
  request.set_time_s(time_s);
  request.mutable_jobs(1)->set_name(std::string(bytes, 'x'));
  return std::make_shared<const pb::DecideRequest>(std::move(request));
}

pb::DecideResponse answer_of(const std::string& id) {
  pb::DecideResponse response;
  response.set_decision_id(id);
  response.set_source(pb::POLICY);
  response.set_model("las");
  response.set_decided_by("las");
  pb::Action& action = *response.add_actions();
  action.set_job("fresh");
  action.set_verb(pb::START);
  return response;
}

void fill(DecisionLog& log, int count, size_t bytes) {
  for (int i = 0; i < count; ++i) {
    pb::DecisionTrace trace;
    trace.set_probability(1);
    log.add(snapshot_at(10'000 + i, bytes), answer_of(std::to_string(i)), std::move(trace));
    // The queue is bounded: flushes before it is full.
    if (i % 32 == 0) log.flush(std::chrono::seconds(60));
  }
  EXPECT_TRUE(log.flush(std::chrono::seconds(60)));
}

std::vector<pb::LogRecord> read_log(const std::filesystem::path& path, LogReader::Damage* damage) {
  LogReader log(path);
  std::vector<pb::LogRecord> out;
  for (const pb::LogRecord& record : log) out.push_back(record);
  if (damage != nullptr) *damage = log.damage();
  return out;
}

uint64_t bytes_of_log(const std::filesystem::path& folder) {
  uint64_t bytes = 0;
  for (const LogFile& file : log_files(folder)) bytes += file.bytes;
  return bytes;
}

}  // namespace yard::testing
