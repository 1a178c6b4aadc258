// Records which job holds which GPUs of a snapshot's nodes. Throws InputError if two jobs claim the
// same GPU. A claim that is invalid in another way holds what GPUs it can.
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
  // Sets invalid nodes aside in `quarantine`: no job may start on them. Throws InputError if the
  // request has no nodes, too many nodes or two nodes of one name.
  GpuLedger(const pb::DecideRequest& request, int64_t now_us, const SnapshotTenants& tenants,
            Quarantine& quarantine);

  // Returns what is invalid in a job's own placement, or "" if nothing is.
  std::string flaw_of_placement(const pb::Job& job) const;
  // claim_named_gpus() enters the GPUs that a job names. After claim_named_gpus() for all jobs,
  // claim_unnamed_gpus() enters GPUs that a job does not name; `is_invalid`: the job has a flaw,
  // and gets what GPUs are left. Either function throws InputError if two jobs hold a GPU. `job` is
  // an index in the request's jobs. Bits of masks are GPU numbers of the request.
  void claim_named_gpus(int job, std::vector<LivePart>& parts);
  void claim_unnamed_gpus(int job, bool is_invalid, std::vector<LivePart>& parts);
  // Enters the GPUs of a stopping job, once the GPUs of all other jobs are entered. Returns what is
  // invalid about these GPUs, or "" if nothing is.
  std::string add_vacating_gpus(int job, int64_t until_us);

  // Returns whether the node's features are valid.
  bool has_valid_features(int32_t node) const { return nodes_[node].sensible; }

  int32_t num_nodes() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t installed_gpus() const { return installed_; }
  bool uses_failed_gpus(const std::vector<LivePart>& parts) const;

  // Returns a mask of the GPUs which are up, or down but still in use.
  uint64_t up_or_held_gpu_mask(int32_t node) const {
    return nodes_[node].all & ~(nodes_[node].down & ~held(node));
  }
  // Returns the mask with the usable GPUs renumbered without gaps.
  uint64_t renumbered_without_gaps(int32_t node, uint64_t mask) const;
  // Returns, by GPU number, when stopping jobs leave the GPU; a time not after now means that no
  // stopping job is on it.
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
  uint64_t named_gpu_mask(const pb::Piece& piece, int32_t node) const;
  std::string flaw_of_gpu_numbers(const pb::Piece& piece, int32_t node) const;
  static uint32_t gpus_of_a_task(const pb::Job& job, const pb::Piece& piece);
  static std::string flaw_of_tasks(const pb::Job& job, const pb::Piece& piece);
  static std::string flaw_of_gpu_sum(const pb::Job& job);
  void take(const pb::Job& job, const pb::Piece& piece, int32_t node, uint64_t mask,
            std::vector<LivePart>& parts);

  const pb::DecideRequest& request_;
  std::vector<Node> nodes_;  // a node without GPUs has an empty mask
  std::unordered_map<std::string_view, int32_t> by_name_;
  int32_t installed_ = 0;
};

// Returns where a job stands in the request, such as "jobs[3] 'a'".
std::string label_of_job(const pb::DecideRequest& request, int job);

// Returns `seconds` as microseconds, or nothing unless 0 <= seconds <= kMaxSeconds.
std::optional<int64_t> seconds_to_us(double seconds);
// Returns an error such as "expected save_s from 0 to 1e10 seconds, got -1".
std::string invalid_seconds_text(const char* what, double seconds);

}  // namespace yard
