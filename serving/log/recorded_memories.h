// Memories of policies while a decision log is replayed. As in the server, each cluster and model
// has a memory, which does not outlive a run of the server.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "serving/snapshot/cluster_memory.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/run_policy.h"
#include "yardmaster/v1/decision_log.pb.h"

namespace yard {

class RecordedMemories {
 public:
  // Returns whether the policy began this decision, as recorded or, in older logs, as the reason
  // shows.
  static bool policy_began_decision(const pb::LoggedDecision& decision);

  // Runs the policy on a recorded decision with what it remembered then. `run`: id of the server's
  // run. Requires: the decision was begun, and the decisions of a log come in its order.
  PolicyResult decide(const Policy& policy, const std::string& run,
                      const pb::LoggedDecision& decision, const Snapshot& snapshot);

  // Returns the memory before a decision, for callers that do not use decide().
  ClusterMemory& of(const pb::LoggedDecision& decision);

  // Replaces the memory for `decision` by a new one and returns it. Call this if the server rebuilt
  // its memory for that decision, after a restart for instance, while the replay kept its memory.
  ClusterMemory& restart(const pb::LoggedDecision& decision);

 private:
  std::string run_;  // run of the server to which the memories belong
  std::unordered_map<std::string, std::unique_ptr<ClusterMemory>> memories_;
};

}  // namespace yard
