// Records which job holds which GPUs of a snapshot's nodes. Checks each claim against earlier
// claims.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "env/sim/rules/restore.h"
#include "env/sim/state/columns.h"
#include "serving/snapshot/messages.h"

namespace yard {

class GpuLedger {
 public:
  // Throws InputError for no or too many nodes, a duplicate name or an impossible number of GPUs.
  explicit GpuLedger(const pb::DecideRequest& request, int64_t now_us);

  // Both throw InputError beginning with `where`. Jobs with GPU numbers must come first: other jobs
  // get remaining GPUs. Bits of masks are GPU numbers of the request.
  std::vector<LivePart> hold(const std::string& where, const pb::Job& job);
  void vacate(const std::string& where, const pb::Job& job, int64_t until_us);

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
  };

  uint64_t held(int32_t node) const { return nodes_[node].starting | nodes_[node].running; }
  void read_node(const std::string& where, const pb::Node& entry, int64_t now_us);
  int32_t find(const std::string& where, const pb::Piece& piece) const;
  uint64_t named_gpus(const std::string& where, const pb::Piece& piece, int32_t node) const;

  std::vector<Node> nodes_;
  std::unordered_map<std::string, int32_t> by_name_;
  int32_t installed_ = 0;
};

// Returns microseconds. Throws InputError unless 0 <= seconds <= kMaxSeconds.
int64_t checked_seconds_to_us(const std::string& where, const char* what, double seconds);

}  // namespace yard
