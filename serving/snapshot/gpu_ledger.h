// Records which job holds which GPUs of a snapshot's nodes. Two claims on one GPU contradict each
// other and throw InputError; any other odd claim holds what it can.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "env/sim/rules/restore.h"
#include "env/sim/state/columns.h"
#include "serving/snapshot/features.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/quarantine.h"

namespace yard {

class GpuLedger {
 public:
  // Sets odd nodes aside: they have no GPUs, or none that is not held. Throws InputError for no or
  // too many nodes, or a duplicate name.
  GpuLedger(const pb::DecideRequest& request, int64_t now_us, const SnapshotTenants& tenants,
            Quarantine& quarantine);

  // What is odd about a job's placement by itself, or "".
  std::string flaw_of(const pb::Job& job) const;
  // Enter the GPUs that a job holds: first those which jobs name, of all jobs; then the others, of
  // odd jobs last, which get what is left. Both throw InputError. Bits of masks are GPU numbers of
  // the request. `job`: index in its jobs.
  void hold_named(int job, std::vector<LivePart>& parts);
  void hold_others(int job, bool odd, std::vector<LivePart>& parts);
  // Enters the GPUs of a stopping job, after all others, and returns what is odd about them, or "".
  std::string vacate(int job, int64_t until_us);

  // Whether what the node says of itself makes sense.
  bool has_features(int32_t node) const { return nodes_[node].sensible; }

  int32_t num_nodes() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t installed_gpus() const { return installed_; }
  bool uses_failed_gpus(const std::vector<LivePart>& parts) const;

  // GPUs which are up, or down but still in use.
  uint64_t usable(int32_t node) const {
    return nodes_[node].all & ~(nodes_[node].down & ~held(node));
  }
  // Returns the mask with the usable GPUs renumbered without gaps.
  uint64_t renumbered_without_gaps(int32_t node, uint64_t mask) const;
  // When each GPU, by its own number, is free of stopping jobs; now or earlier: free already.
  const std::array<int64_t, kMaxNodeGpus>& until_us(int32_t node) const {
    return nodes_[node].until_us;
  }

 private:
  struct Node {
    uint64_t all = 0, down = 0, starting = 0, running = 0, leaving = 0;
    std::array<int64_t, kMaxNodeGpus> until_us;
    bool sensible = false;
  };

  uint64_t held(int32_t node) const { return nodes_[node].starting | nodes_[node].running; }
  static std::string read_node(const pb::Node& entry, int64_t now_us,
                               const SnapshotTenants& tenants, Node& node);
  int32_t find(const pb::Piece& piece) const;
  uint64_t named_gpus(const pb::Piece& piece, int32_t node) const;
  std::string flaw_of_numbers(const pb::Piece& piece, int32_t node) const;
  static uint32_t gpus_of_a_task(const pb::Job& job, const pb::Piece& piece);
  static std::string flaw_of_tasks(const pb::Job& job, const pb::Piece& piece);
  static std::string flaw_of_sum(const pb::Job& job);
  void take(const pb::Job& job, const pb::Piece& piece, int32_t node, uint64_t mask,
            std::vector<LivePart>& parts);

  const pb::DecideRequest& request_;
  std::vector<Node> nodes_;  // one without GPUs has an empty mask
  std::unordered_map<std::string_view, int32_t> by_name_;
  int32_t installed_ = 0;
};

// Returns "jobs[3] 'a'".
std::string where_is(const pb::DecideRequest& request, int job);

// Returns microseconds, or nothing unless 0 <= seconds <= kMaxSeconds.
std::optional<int64_t> seconds_to_us(double seconds);
// Returns "save_s from 0 to 1e10 seconds, got -1".
std::string flaw_of_seconds(const char* what, double seconds);

}  // namespace yard
