// Reads the fields of jobs and nodes in a snapshot other than their numbers of GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "env/cluster/spec.h"
#include "env/trace/core/job.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/quarantine.h"

namespace yard {

inline constexpr int kMaxSnapshotTenants = 1024;
inline constexpr int kMaxSnapshotGroups = 16;  // of one job
inline constexpr int kMaxModelSpeeds = 1024;   // speeds of models on one GPU type

// Reads a job's request, valuation and training into `job`, whose submit time is set. Returns what
// is invalid or asks for something that no policy supports; "" if nothing does.
std::string read_job_features(const pb::Job& entry, Job& job);

// The tenants of a snapshot.
class SnapshotTenants {
 public:
  // Throws InputError for too many or duplicate tenants. Requires: the request outlives the object.
  explicit SnapshotTenants(const pb::DecideRequest& request);

  const std::vector<Tenant>& list() const { return list_; }
  int32_t find(std::string_view name) const;  // index of the tenant; kNoTenant: not listed

 private:
  std::vector<Tenant> list_;
  std::unordered_map<std::string_view, int32_t> index_;
};

// Reads a GPU type. A speed that makes no sense is set aside: the type counts as the reference
// type, or a model has the speed of the type. Throws InputError for too many speeds of models.
GpuType read_gpu_type(const pb::GpuType& entry, Quarantine& quarantine);

// Returns what is invalid in a node's features, or "" if nothing is.
std::string flaw_of_node_features(const pb::Node& entry, const SnapshotTenants& tenants);
// Requires: no flaw.
void read_node_features(const pb::Node& entry, const SnapshotTenants& tenants, Node& node);

// Finds jobs that may not run on all nodes, or share their nodes with no other job. The cluster
// manager heeds this, policies do not.
class JobsLeftToManager {
 public:
  // Requires: the request outlives the object.
  explicit JobsLeftToManager(const pb::DecideRequest& request);

  // Returns why a job is left to the cluster manager, or "" if a policy decides on it.
  std::string why(const pb::Job& entry) const;

 private:
  int restricted_nodes_ = 0;                            // number of nodes that list partitions
  std::unordered_map<std::string_view, int> nodes_of_;  // number of nodes in each partition
};

}  // namespace yard
