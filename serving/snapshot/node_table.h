// The nodes of a snapshot, as far as they do not depend on its jobs.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/sim/state/columns.h"
#include "serving/snapshot/features.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/quarantine.h"

namespace yard {

// Times in microseconds, by GPU number of a node.
using GpuTimes = std::array<int64_t, kMaxNodeGpus>;

class NodeTable {
 public:
  struct Node {
    uint64_t all = 0, down = 0;  // masks of GPUs; no GPUs: a node without GPUs
    int32_t vacating = kNone;    // index in vacating(); few nodes have an entry there
    bool has_valid_features = false;
  };

  // Sets invalid nodes aside: no job may start on them. Throws InputError if the request has no
  // nodes, too many nodes, two nodes of one name, or too many or duplicate tenants. Requires: the
  // request's nodes and tenants outlive the table and do not change.
  explicit NodeTable(const pb::DecideRequest& request);

  int32_t size() const { return static_cast<int32_t>(nodes_.size()); }
  const Node& operator[](int32_t node) const { return nodes_[static_cast<size_t>(node)]; }
  int32_t installed_gpus() const { return installed_; }
  // Returns whether a GPU of any node is down.
  bool any_down() const { return any_down_; }
  // Returns when the stopping jobs that nodes list leave their GPUs; 0: no stopping job.
  const std::vector<GpuTimes>& vacating() const { return vacating_; }
  const SnapshotTenants& tenants() const { return tenants_; }
  const JobsLeftToManager& left_to_manager() const { return left_to_manager_; }
  // Returns the nodes that were set aside.
  const Quarantine& quarantine() const { return quarantine_; }

  // Returns kNone for a node that is not in the request, or has no GPUs.
  int32_t find(std::string_view name) const;
  // Returns the GPUs of the node that the piece names.
  uint64_t named_gpu_mask(const pb::Piece& piece, int32_t node) const;
  // Returns what is invalid in a job's own placement, or "" if nothing is.
  std::string flaw_of_placement(const pb::Job& job) const;

 private:
  std::string read_node(const pb::Node& entry, Node& node);
  std::string flaw_of_gpu_numbers(const pb::Piece& piece, int32_t node) const;
  static std::string flaw_of_tasks(const pb::Job& job, const pb::Piece& piece);
  static std::string flaw_of_gpu_sum(const pb::Job& job);

  const SnapshotTenants tenants_;
  const JobsLeftToManager left_to_manager_;
  std::vector<Node> nodes_;
  std::vector<GpuTimes> vacating_;
  absl::flat_hash_map<std::string_view, int32_t> by_name_;
  Quarantine quarantine_;
  int32_t installed_ = 0;
  bool any_down_ = false;
};

// Notes that a stopping job is on the GPU until then. `entry` is the node's index in `times`;
// kNone: the node gets an entry.
void extend_times(std::vector<GpuTimes>& times, int32_t& entry, int32_t gpu, int64_t until_us);

// Returns the number of GPUs of one task of the piece's group.
uint32_t gpus_of_a_task(const pb::Job& job, const pb::Piece& piece);

// Returns `seconds` as microseconds, or nothing unless 0 <= seconds <= kMaxSeconds.
std::optional<int64_t> seconds_to_us(double seconds);
// Returns an error such as "expected save_s from 0 to 1e10 seconds, got -1".
std::string invalid_seconds_text(const char* what, double seconds);

}  // namespace yard
