// Memories of a policy while a decision log is replayed. As in the server, each cluster and model
// has a memory.
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

  // Replaces the memory for `decision` by a new one and returns it. Call this if the server rebuilt
  // its memory for that decision, after a restart for instance, while the replay kept its memory.
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
