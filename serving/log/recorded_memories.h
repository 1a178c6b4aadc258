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
  // Whether the policy began this decision, as recorded; older logs say it by the reason only.
  static bool policy_began_decision(const pb::LoggedDecision& decision);

  // Runs the policy on a recorded decision with what it remembered then. `run`: of the server.
  // Requires: the decision was begun, and the decisions of a log come in its order.
  PolicyResult decide(const Policy& policy, const std::string& run,
                      const pb::LoggedDecision& decision, const Snapshot& snapshot);

  // The memory before a decision, for those that decide by themselves.
  ClusterMemory& of(const pb::LoggedDecision& decision);

  // Replaces the memory for `decision` by a new one and returns it. Call this if the server rebuilt
  // its memory for that decision, after a restart for instance, while the replay kept its memory.
  ClusterMemory& restart(const pb::LoggedDecision& decision);

 private:
  std::string run_;  // of the server; earlier ones are over
  std::unordered_map<std::string, std::unique_ptr<ClusterMemory>> memories_;
};

}  // namespace yard
