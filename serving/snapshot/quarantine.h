// Collects invalid records of a snapshot, which are set aside so that policies see only valid ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "serving/snapshot/messages.h"

namespace yard {

// Returns a short text as it is, or the start of a long text and "...", and keeps characters whole.
std::string shortened(std::string_view text);

class Quarantine {
 public:
  void add(pb::Quarantined::Record record, std::string_view id, std::string_view why,
           bool keeps_gpus = false);

  int64_t count() const { return count_; }
  // Returns whether a job with this id was set aside.
  bool has_job(const std::string& id) const { return jobs_.contains(id); }
  // Returns the first records that were set aside, with shortened ids.
  const std::vector<pb::Quarantined>& listed() const { return listed_; }

 private:
  int64_t count_ = 0;
  std::vector<pb::Quarantined> listed_;
  std::unordered_set<std::string> jobs_;  // ids of all jobs that were set aside
};

}  // namespace yard
