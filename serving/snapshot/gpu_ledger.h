// Records which job holds which GPUs of a snapshot's nodes. Throws InputError if two jobs claim the
// same GPU. A claim that is invalid in another way holds what GPUs it can.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/sim/rules/restore.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/node_table.h"

namespace yard {

class GpuLedger {
 public:
  // Requires: both outlive the ledger.
  GpuLedger(const pb::DecideRequest& request, const NodeTable& nodes);

  // In the functions below, `job` is an index in the request's jobs, and `nodes` has the index of
  // the node of each piece of its placement, or kNone, as from NodeTable::find(). Bits of masks are
  // GPU numbers of the request.

  // claim_named_gpus() enters the GPUs that a job names. After claim_named_gpus() for all jobs,
  // claim_unnamed_gpus() enters GPUs that a job does not name; `is_invalid`: the job has a flaw,
  // and gets what GPUs are left. Either function throws InputError if two jobs hold a GPU.
  void claim_named_gpus(int job, std::span<const int32_t> nodes, std::vector<LivePart>& parts);
  void claim_unnamed_gpus(int job, std::span<const int32_t> nodes, bool is_invalid,
                          std::vector<LivePart>& parts);
  // Enters the GPUs of a stopping job, once the GPUs of all other jobs are entered. Returns what is
  // invalid about these GPUs, or "" if nothing is.
  std::string add_vacating_gpus(int job, std::span<const int32_t> nodes, int64_t until_us);

  bool uses_failed_gpus(const std::vector<LivePart>& parts) const;

  // Returns a mask of the GPUs which are up, or down but still in use.
  uint64_t up_or_held_gpu_mask(int32_t node) const {
    return nodes_[node].all & ~(nodes_[node].down & ~held(node));
  }
  // Returns the mask with the usable GPUs renumbered without gaps.
  uint64_t renumbered_without_gaps(int32_t node, uint64_t mask) const;
  // Returns, by GPU number, when stopping jobs leave the GPU; a time not after now means that no
  // stopping job is on it. Null: no stopping job is on the node.
  const GpuTimes* vacating_until_us(int32_t node) const {
    const int32_t entry = claims_[static_cast<size_t>(node)].vacating;
    return entry == kNone ? nullptr : &vacating_[static_cast<size_t>(entry)];
  }

 private:
  // Masks of the GPUs that jobs hold on a node.
  struct Claims {
    uint64_t starting = 0, running = 0, leaving = 0;
    int32_t vacating = kNone;  // index in vacating_
  };

  uint64_t held(int32_t node) const {
    const Claims& on = claims_[static_cast<size_t>(node)];
    return on.starting | on.running;
  }
  void take(const pb::Job& job, const pb::Piece& piece, int32_t node, uint64_t mask,
            std::vector<LivePart>& parts);

  const pb::DecideRequest& request_;
  const NodeTable& nodes_;
  std::vector<GpuTimes> vacating_;
  std::vector<Claims> claims_;  // by node
};

// Returns where a job stands in the request, such as "jobs[3] 'a'".
std::string label_of_job(const pb::DecideRequest& request, int job);

}  // namespace yard
