#include "serving/snapshot/snapshot_readings.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace yard {

void JobReadings::resize(size_t count) {
  const size_t needed = count - std::min(count, of_.size());
  of_.resize(count, nullptr);
  if (needed <= unused_.size()) return;
  // At once for all records of a full snapshot.
  const size_t more = needed - unused_.size();
  JobReading* block = blocks_.emplace_back(std::make_unique<JobReading[]>(more)).get();
  for (size_t i = more; i-- > 0;) unused_.push_back(block + i);
}

JobReading& JobReadings::renew(size_t record) {
  JobReading*& reading = of_[record];
  if (reading != nullptr) {
    std::destroy_at(reading);
    return *std::construct_at(reading);
  }
  if (unused_.empty()) unused_.push_back(blocks_.emplace_back(new JobReading[1]).get());
  reading = unused_.back();
  unused_.pop_back();
  return *reading;
}

void JobReadings::follow(const std::vector<int32_t>& origins) {
  std::vector<JobReading*> before(origins.size(), nullptr);
  before.swap(of_);
  for (size_t i = 0; i < origins.size(); ++i) {
    const auto origin = static_cast<size_t>(origins[i]);
    if (origins[i] != kNone && origin < before.size()) of_[i] = std::exchange(before[origin], {});
  }
  for (JobReading* reading : before) {
    if (reading == nullptr) continue;
    std::destroy_at(reading);
    unused_.push_back(std::construct_at(reading));
  }
}

void SnapshotReadings::follow(const DeltaOrigins& origins) {
  if (origins.cluster_changed) {
    // Readings of jobs refer to nodes.
    jobs_ = {};
    finished_ = {};
    nodes_ = nullptr;
    cluster_ = nullptr;
    return;
  }
  jobs_.follow(origins.jobs);
  finished_.follow(origins.finished);
}

size_t SnapshotReadings::bytes() const {
  const auto nodes = static_cast<size_t>(nodes_ == nullptr ? 0 : nodes_->size());
  return (jobs_.size() + finished_.size()) * sizeof(JobReading) +
         nodes * (sizeof(NodeTable::Node) + 2 * sizeof(Node));
}

}  // namespace yard
