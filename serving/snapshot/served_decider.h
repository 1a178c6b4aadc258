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
  // `fallback` decides if the policy's answer is not legal. Throws InputError if snapshots lack
  // something that the simulation has. Requires: all outlive this; `jobs` are those of the tables.
  ServedDecider(const Policy& policy, const Policy& fallback, const ClusterSpec& cluster,
                const std::vector<Job>& jobs, const SimModel& model);

  Level level() const override { return policy_.level(); }
  void decide(const View& view, Draft& draft) override;

  int64_t decisions() const { return decisions_; }
  int64_t fallbacks() const { return fallbacks_; }  // decisions that the fallback made

 private:
  void note_ended(const View& view);
  void apply(const View& view, const pb::DecideResponse& response, Draft& draft) const;

  const Policy& policy_;
  const Policy& fallback_;
  const ClusterSpec& cluster_;
  const std::vector<Job>& jobs_;
  std::unordered_map<std::string_view, int32_t> nodes_;  // by name
  ClusterMemory memory_;
  std::vector<EndedJob> ended_;                     // since the last decision
  std::shared_ptr<const pb::DecideRequest> state_;  // the last one
  int64_t decisions_ = 0, fallbacks_ = 0;
};

}  // namespace yard
