// Plays a policy in a simulation as a server would: what changes becomes a delta, the policy sees
// the snapshot after it and what the server remembers, and its answer is checked. Without a socket.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "env/sim/view/decider.h"
#include "policies/policy.h"
#include "serving/snapshot/cluster_memory.h"
#include "serving/snapshot/export.h"

namespace yard {

class ServedDecider final : public Decider {
 public:
  // Throws InputError if snapshots lack something that the simulation has. Requires: all outlive
  // this; `jobs` are those of the tables.
  ServedDecider(const Policy& policy, const ClusterSpec& cluster, const std::vector<Job>& jobs,
                const SimModel& model);

  Level level() const override { return policy_.level(); }
  // Throws RunError if the policy fails or its answer is not legal, where a server would fall back
  // on a heuristic: the scores are those of the policy alone.
  void decide(const View& view, Draft& draft) override;

 private:
  void note_ended(const View& view);
  void apply(const View& view, const pb::DecideResponse& response, Draft& draft) const;

  const Policy& policy_;
  const ClusterSpec& cluster_;
  const std::vector<Job>& jobs_;
  std::unordered_map<std::string_view, int32_t> nodes_;  // by name
  ClusterMemory memory_;
  std::vector<EndedJob> ended_;                     // since the last decision
  std::shared_ptr<const pb::DecideRequest> state_;  // the last one
  uint64_t version_ = 0;                            // of that state
};

}  // namespace yard
