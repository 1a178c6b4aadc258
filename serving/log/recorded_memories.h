// What a policy remembers while a decision log is replayed: as the server did, a memory for each
// cluster and model.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "serving/snapshot/cluster_memory.h"
#include "serving/snapshot/messages.h"
#include "yardmaster/v1/decision_log.pb.h"

namespace yard {

class RecordedMemories {
 public:
  ClusterMemory& of(const pb::LoggedDecision& decision) {
    auto& memory = memories_[key_of(decision)];
    if (memory == nullptr) memory = std::make_unique<ClusterMemory>();
    return *memory;
  }

  // Returns a fresh memory from this decision on. To be used if the server's memory was rebuilt and
  // the replayed one was not: the server had been restarted, or had dropped it.
  ClusterMemory& restart(const pb::LoggedDecision& decision) {
    memories_.erase(key_of(decision));
    return of(decision);
  }

 private:
  static std::string key_of(const pb::LoggedDecision& decision) {
    const pb::DecideResponse& response = decision.response();
    return decision.request().cluster() + '\n' + response.model() + '\n' + response.model_digest();
  }

  std::unordered_map<std::string, std::unique_ptr<ClusterMemory>> memories_;
};

}  // namespace yard
