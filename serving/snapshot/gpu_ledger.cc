#include "serving/snapshot/gpu_ledger.h"

#include <algorithm>

#include "env/base/core/error.h"
#include "env/sim/rules/rules.h"
#include "serving/snapshot/quarantine.h"

namespace yard {

std::string label_of_job(const pb::DecideRequest& request, int job) {
  return "jobs[" + std::to_string(job) + "] '" + shortened(request.jobs(job).id()) + "'";
}

GpuLedger::GpuLedger(const pb::DecideRequest& request, const NodeTable& nodes)
    : request_(request), nodes_(nodes), vacating_(nodes.vacating()) {
  claims_.resize(static_cast<size_t>(nodes.size()));
  if (vacating_.empty()) return;
  for (int32_t i = 0; i < nodes.size(); ++i) {
    claims_[static_cast<size_t>(i)].vacating = nodes[i].vacating;
  }
}

void GpuLedger::take(const pb::Job& job, const pb::Piece& piece, int32_t node, uint64_t mask,
                     std::vector<LivePart>& parts) {
  const bool has_only_cpus = gpus_of_a_task(job, piece) == 0 && piece.tasks() > 0;
  if (mask == 0 && !has_only_cpus) return;
  Claims& on = claims_[static_cast<size_t>(node)];
  (job.state() == pb::RUNNING ? on.running : on.starting) |= mask;
  const auto group = static_cast<int32_t>(std::min<uint32_t>(piece.group(), INT32_MAX));
  for (LivePart& part : parts) {
    if (part.node != node || part.group != group) continue;
    part.mask |= mask;
    return;
  }
  parts.push_back(
      {node, mask, group, static_cast<int32_t>(std::min<uint32_t>(piece.tasks(), kMaxShapeTasks))});
}

void GpuLedger::claim_named_gpus(int job, std::span<const int32_t> nodes,
                                 std::vector<LivePart>& parts) {
  const pb::Job& entry = request_.jobs(job);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const pb::Piece& piece = entry.placement(static_cast<int>(i));
    const int32_t at = nodes[i];
    if (at == kNone) continue;
    uint64_t own = 0;  // an odd job may name one twice
    for (const LivePart& part : parts) own |= part.node == at ? part.mask : 0;
    const uint64_t mask = nodes_.named_gpu_mask(piece, at) & ~own;
    if (const uint64_t twice = mask & held(at); twice != 0) {
      throw InputError(
          label_of_job(request_, job), "GPUs that no other job holds",
          "'" + shortened(piece.node()) + "' GPU " + std::to_string(lowest_set_bit_index(twice)));
    }
    take(entry, piece, at, mask, parts);
  }
}

void GpuLedger::claim_unnamed_gpus(int job, std::span<const int32_t> nodes, bool is_invalid,
                                   std::vector<LivePart>& parts) {
  const pb::Job& entry = request_.jobs(job);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const pb::Piece& piece = entry.placement(static_cast<int>(i));
    const int32_t at = nodes[i];
    if (at == kNone) continue;
    const NodeTable::Node& node = nodes_[at];
    const uint64_t left = node.all & ~held(at), up = left & ~node.down;
    const int64_t wanted = int64_t{piece.gpus()} - count_bits(nodes_.named_gpu_mask(piece, at));
    if (wanted > count_bits(left) && !is_invalid) {
      throw InputError(label_of_job(request_, job),
                       "1 to " + std::to_string(count_bits(left)) + " GPUs, those left on node '" +
                           shortened(piece.node()) + "'",
                       std::to_string(wanted));
    }
    const auto count = static_cast<int32_t>(std::clamp<int64_t>(wanted, 0, count_bits(left)));
    // GPUs that are up first. A job may hold one that has failed.
    const int32_t of_up = std::min(count, count_bits(up));
    take(entry, piece, at, lowest_bits(up, of_up) | lowest_bits(left & node.down, count - of_up),
         parts);
  }
}

std::string GpuLedger::add_vacating_gpus(int job, std::span<const int32_t> nodes,
                                         int64_t until_us) {
  const pb::Job& entry = request_.jobs(job);
  std::string odd;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const pb::Piece& piece = entry.placement(static_cast<int>(i));
    const int32_t at = nodes[i];
    if (at == kNone) {
      odd = "expected a node with GPUs in its placement, got '" + shortened(piece.node()) + "'";
      continue;
    }
    const NodeTable::Node& node = nodes_[at];
    Claims& on = claims_[static_cast<size_t>(at)];
    uint64_t mask = nodes_.named_gpu_mask(piece, at);
    if ((mask & (on.running | on.leaving)) != 0) {
      throw InputError(label_of_job(request_, job), "GPUs on which no other job runs or stops",
                       "'" + shortened(piece.node()) + "'");
    }
    if (piece.gpu_ids_size() == 0) {
      // Prefers GPUs which no starting job waits for.
      const uint64_t idle = node.all & ~node.down & ~held(at) & ~on.leaving;
      const uint64_t awaited = on.starting & ~on.leaving;
      const auto want = static_cast<int32_t>(std::min<uint32_t>(piece.gpus(), kMaxNodeGpus));
      const int32_t from_idle = std::min(want, count_bits(idle));
      const int32_t from_awaited = std::min(want - from_idle, count_bits(awaited));
      if (from_idle + from_awaited < want || piece.gpus() > kMaxNodeGpus) {
        odd = "expected GPUs on which no other job runs or stops, got " +
              std::to_string(piece.gpus()) + " on '" + shortened(piece.node()) + "'";
      }
      mask = lowest_bits(idle, from_idle) | lowest_bits(awaited, from_awaited);
    }
    on.leaving |= mask;
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
      extend_times(vacating_, on.vacating, lowest_set_bit_index(rest), until_us);
    }
  }
  return odd;
}

bool GpuLedger::uses_failed_gpus(const std::vector<LivePart>& parts) const {
  return std::ranges::any_of(
      parts, [this](const LivePart& part) { return (nodes_[part.node].down & part.mask) != 0; });
}

uint64_t GpuLedger::renumbered_without_gaps(int32_t node, uint64_t mask) const {
  uint64_t out = 0;
  const uint64_t all = up_or_held_gpu_mask(node);
  for (uint64_t rest = mask & all; rest != 0; rest &= rest - 1) {
    out |= uint64_t{1} << count_bits(all & mask_of_low_bits(lowest_set_bit_index(rest)));
  }
  return out;
}

}  // namespace yard
