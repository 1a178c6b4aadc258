// What a snapshot says of jobs and nodes beyond numbers of GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "env/cluster/spec.h"
#include "env/trace/core/job.h"
#include "serving/snapshot/messages.h"

namespace yard {

inline constexpr int kMaxSnapshotTenants = 1024;
inline constexpr int kMaxSnapshotGroups = 16;  // of one job

// Reads a job's request, valuation and training into `job`, whose submit time is set. Returns what
// makes no sense, or asks for something that no policy heeds, or "".
std::string read_job_features(const pb::Job& entry, Job& job);

// The tenants of a snapshot.
class SnapshotTenants {
 public:
  // Throws InputError if there are too many, or one twice. Requires: the request outlives this.
  explicit SnapshotTenants(const pb::DecideRequest& request);

  const std::vector<Tenant>& list() const { return list_; }
  int32_t find(std::string_view name) const;  // kNoTenant if it is not listed

 private:
  std::vector<Tenant> list_;
  std::unordered_map<std::string_view, int32_t> index_;
};

// Returns what makes no sense about a node's features, or "".
std::string flaw_of_node_features(const pb::Node& entry, const SnapshotTenants& tenants);
// Requires: no flaw.
void read_node_features(const pb::Node& entry, const SnapshotTenants& tenants, Node& node);

// Jobs that ask for certain nodes, as no policy does: they are left to the cluster manager.
class LeftToManager {
 public:
  // Requires: the request outlives this.
  explicit LeftToManager(const pb::DecideRequest& request);

  // Returns why the job is left to the manager, or "".
  std::string why(const pb::Job& entry) const;

 private:
  int restricted_nodes_ = 0;                            // nodes of certain partitions only
  std::unordered_map<std::string_view, int> nodes_of_;  // of these, by partition
};

}  // namespace yard
