// Runs a policy in a simulation as a server would, but without network traffic. Changes become
// deltas, the policy sees the full snapshot and its memory of the cluster, and the guard checks its
// answer.
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
  // Throws InputError if snapshots cannot express something in the simulation. Requires: the
  // arguments outlive the decider; `jobs` are the jobs of `model`.
  ServedDecider(const Policy& policy, const ClusterSpec& cluster, const std::vector<Job>& jobs,
                const SimModel& model);

  InformationLevel level() const override { return policy_.level(); }
  // Throws RunError if the policy fails or its answer is illegal. A server would use the fallback
  // instead, but the scores of a simulation are to be those of the policy alone.
  void decide(const View& view, Draft& draft) override;

 private:
  void note_ended(const View& view);
  void apply(const View& view, const pb::DecideResponse& response, Draft& draft) const;

  const Policy& policy_;
  const ClusterSpec& cluster_;
  const std::vector<Job>& jobs_;
  std::unordered_map<std::string_view, int32_t> nodes_;  // by name
  ClusterMemory memory_;
  std::vector<EndedJob> ended_;                     // jobs that have ended since the last decision
  std::shared_ptr<const pb::DecideRequest> state_;  // last snapshot
  uint64_t version_ = 0;                            // version of the last snapshot
};

}  // namespace yard
