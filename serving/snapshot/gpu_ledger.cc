#include "serving/snapshot/gpu_ledger.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/rules/rules.h"
#include "serving/snapshot/snapshot.h"

namespace yard {

std::string label_of_job(const pb::DecideRequest& request, int job) {
  return "jobs[" + std::to_string(job) + "] '" + shortened(request.jobs(job).id()) + "'";
}

std::optional<int64_t> seconds_to_us(double seconds) {
  if (!(seconds >= 0 && seconds <= kMaxSeconds)) return {};
  return std::llround(seconds * 1e6);
}

std::string invalid_seconds_text(const char* what, double seconds) {
  return std::string("expected ") + what + " from 0 to 1e10 seconds, got " +
         (std::isnan(seconds) ? "NaN" : shortest_text(seconds));
}

GpuLedger::GpuLedger(const pb::DecideRequest& request, int64_t now_us,
                     const SnapshotTenants& tenants, Quarantine& quarantine)
    : request_(request) {
  if (request.nodes_size() < 1 || request.nodes_size() > kMaxSnapshotNodes) {
    throw InputError("nodes", "1 to " + std::to_string(kMaxSnapshotNodes) + " nodes",
                     std::to_string(request.nodes_size()));
  }
  nodes_.reserve(static_cast<size_t>(request.nodes_size()));
  by_name_.reserve(static_cast<size_t>(request.nodes_size()));
  for (int i = 0; i < request.nodes_size(); ++i) {
    const pb::Node& entry = request.nodes(i);
    if (!by_name_.try_emplace(entry.name(), i).second && !entry.name().empty()) {
      throw InputError("nodes[" + std::to_string(i) + "] '" + shortened(entry.name()) + "'",
                       "unique names", "a duplicate");
    }
    Node& node = nodes_.emplace_back();
    const std::string odd = read_node(entry, now_us, tenants, node);
    installed_ += count_bits(node.all);
    if (!odd.empty()) quarantine.add(pb::Quarantined::NODE, entry.name(), odd, node.all != 0);
  }
}

// An odd node keeps the GPUs that its jobs hold, and offers none.
std::string GpuLedger::read_node(const pb::Node& entry, int64_t now_us,
                                 const SnapshotTenants& tenants, Node& node) {
  node.until_us.fill(now_us);
  if (entry.name().empty()) return "no name";
  if (entry.name().size() > kMaxIdBytes) return "the name is longer than 1024 bytes";
  if (entry.gpus() < 1 || entry.gpus() > kMaxNodeGpus) {
    return "expected 1 to 64 GPUs, got " + std::to_string(entry.gpus());
  }
  node.all = mask_of_low_bits(static_cast<int32_t>(entry.gpus()));
  std::string odd;
  const auto check = [&](uint32_t gpu) {
    if (gpu < entry.gpus()) return true;
    odd = "expected GPUs 0 to " + std::to_string(entry.gpus() - 1) + ", got " + std::to_string(gpu);
    return false;
  };
  for (const uint32_t gpu : entry.down()) {
    if (check(gpu)) node.down |= uint64_t{1} << gpu;
  }
  for (const pb::Vacating& vacating : entry.vacating()) {
    if (!check(vacating.gpu())) continue;
    const auto until_us = seconds_to_us(vacating.until_s());
    if (!until_us) odd = invalid_seconds_text("vacating.until_s", vacating.until_s());
    int64_t& last_us = node.until_us[vacating.gpu()];
    last_us = std::max(last_us, until_us.value_or(0));
  }
  if (odd.empty()) odd = flaw_of_node_features(entry, tenants);
  if (!odd.empty()) node.down = node.all;
  node.sensible = odd.empty();
  return odd;
}

// Returns kNone for a node that is not in the request, or has no GPUs.
int32_t GpuLedger::find(const pb::Piece& piece) const {
  const auto it = by_name_.find(piece.node());
  return it == by_name_.end() || nodes_[static_cast<size_t>(it->second)].all == 0 ? kNone
                                                                                  : it->second;
}

// Returns the GPUs of the node which the piece names.
uint64_t GpuLedger::named_gpu_mask(const pb::Piece& piece, int32_t node) const {
  uint64_t mask = 0;
  for (const uint32_t gpu : piece.gpu_ids()) mask |= gpu < kMaxNodeGpus ? uint64_t{1} << gpu : 0;
  return mask & nodes_[static_cast<size_t>(node)].all;
}

std::string GpuLedger::flaw_of_gpu_numbers(const pb::Piece& piece, int32_t node) const {
  const uint64_t all = nodes_[static_cast<size_t>(node)].all;
  uint64_t seen = 0;
  for (const uint32_t gpu : piece.gpu_ids()) {
    const uint64_t bit = gpu < kMaxNodeGpus ? uint64_t{1} << gpu : 0;
    if ((bit & all) == 0) {
      return "expected a GPU of node '" + shortened(piece.node()) + "', got " + std::to_string(gpu);
    }
    if ((bit & seen) != 0) return "expected each GPU once, got " + std::to_string(gpu) + " again";
    seen |= bit;
  }
  if (piece.gpu_ids_size() > 0 && static_cast<uint32_t>(piece.gpu_ids_size()) != piece.gpus()) {
    return "expected one gpu_id per GPU (" + std::to_string(piece.gpus()) + "), got " +
           std::to_string(piece.gpu_ids_size());
  }
  return "";
}

std::string GpuLedger::flaw_of_placement(const pb::Job& job) const {
  std::set<std::pair<int32_t, uint32_t>> seen;
  for (const pb::Piece& piece : job.placement()) {
    const std::string name = "'" + shortened(piece.node()) + "'";
    const int32_t at = find(piece);
    if (at == kNone) return "expected a placement on nodes with GPUs, got " + name;
    if (!seen.insert({at, piece.group()}).second) {
      return "expected each node once" + std::string(job.groups_size() > 0 ? " for a group" : "") +
             ", got " + name + " again";
    }
    if (std::string flaw = flaw_of_tasks(job, piece); !flaw.empty()) return flaw;
    const auto most = static_cast<uint32_t>(count_bits(nodes_[static_cast<size_t>(at)].all));
    const uint32_t least = gpus_of_a_task(job, piece) == 0 ? 0 : 1;
    if (piece.gpus() < least || piece.gpus() > most) {
      return "expected 1 to " + std::to_string(most) + " GPUs on node " + name + ", got " +
             std::to_string(piece.gpus());
    }
    if (std::string flaw = flaw_of_gpu_numbers(piece, at); !flaw.empty()) return flaw;
  }
  return job.state() == pb::STOPPING ? "" : flaw_of_gpu_sum(job);
}

// Without groups, a task is a GPU.
uint32_t GpuLedger::gpus_of_a_task(const pb::Job& job, const pb::Piece& piece) {
  const auto group = static_cast<int>(std::min<uint32_t>(piece.group(), INT32_MAX));
  return group < job.groups_size() ? job.groups(group).task().gpus() : 1;
}

std::string GpuLedger::flaw_of_tasks(const pb::Job& job, const pb::Piece& piece) {
  const auto groups = static_cast<uint32_t>(std::max(job.groups_size(), 1));
  if (piece.group() >= groups) {
    return "expected a group from 0 to " + std::to_string(groups - 1) + ", got " +
           std::to_string(piece.group());
  }
  if (!piece.has_tasks() || job.groups_size() == 0) return "";
  const uint64_t gpus = uint64_t{piece.tasks()} * gpus_of_a_task(job, piece);
  if (gpus == piece.gpus()) return "";
  return "expected " + std::to_string(gpus) + " GPUs for its " + std::to_string(piece.tasks()) +
         " tasks on node '" + shortened(piece.node()) + "', got " + std::to_string(piece.gpus());
}

// Requires: each piece is of one of the job's groups.
std::string GpuLedger::flaw_of_gpu_sum(const pb::Job& job) {
  uint64_t sum = 0;
  std::vector<uint64_t> tasks(static_cast<size_t>(job.groups_size()), 0);
  for (const pb::Piece& piece : job.placement()) {
    sum += piece.gpus();
    if (tasks.empty()) continue;
    const uint32_t each = gpus_of_a_task(job, piece);
    tasks[piece.group()] += piece.has_tasks() || each == 0 ? piece.tasks() : piece.gpus() / each;
  }
  if (tasks.empty() && sum != job.gpus()) {
    return "expected a placement with all its " + std::to_string(job.gpus()) + " GPUs, got " +
           std::to_string(sum);
  }
  for (int g = 0; g < job.groups_size(); ++g) {
    const pb::TaskGroup& group = job.groups(g);
    const uint32_t least = group.has_min_count() ? group.min_count() : group.count();
    const uint32_t most = group.has_max_count() ? group.max_count() : group.count();
    const uint64_t placed = tasks[static_cast<size_t>(g)];
    if (placed >= least && placed <= most) continue;
    return "expected a placement with " + std::to_string(least) + " to " + std::to_string(most) +
           " tasks of group " + std::to_string(g) + ", got " + std::to_string(placed);
  }
  return "";
}

void GpuLedger::take(const pb::Job& job, const pb::Piece& piece, int32_t node, uint64_t mask,
                     std::vector<LivePart>& parts) {
  const bool has_only_cpus = gpus_of_a_task(job, piece) == 0 && piece.tasks() > 0;
  if (mask == 0 && !has_only_cpus) return;
  Node& on = nodes_[static_cast<size_t>(node)];
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

void GpuLedger::claim_named_gpus(int job, std::vector<LivePart>& parts) {
  const pb::Job& entry = request_.jobs(job);
  for (const pb::Piece& piece : entry.placement()) {
    const int32_t at = find(piece);
    if (at == kNone) continue;
    uint64_t own = 0;  // an odd job may name one twice
    for (const LivePart& part : parts) own |= part.node == at ? part.mask : 0;
    const uint64_t mask = named_gpu_mask(piece, at) & ~own;
    if (const uint64_t twice = mask & held(at); twice != 0) {
      throw InputError(
          label_of_job(request_, job), "GPUs that no other job holds",
          "'" + shortened(piece.node()) + "' GPU " + std::to_string(lowest_set_bit_index(twice)));
    }
    take(entry, piece, at, mask, parts);
  }
}

void GpuLedger::claim_unnamed_gpus(int job, bool is_invalid, std::vector<LivePart>& parts) {
  const pb::Job& entry = request_.jobs(job);
  for (const pb::Piece& piece : entry.placement()) {
    const int32_t at = find(piece);
    if (at == kNone) continue;
    const Node& node = nodes_[static_cast<size_t>(at)];
    const uint64_t left = node.all & ~held(at), up = left & ~node.down;
    const int64_t wanted = int64_t{piece.gpus()} - count_bits(named_gpu_mask(piece, at));
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

std::string GpuLedger::add_vacating_gpus(int job, int64_t until_us) {
  const pb::Job& entry = request_.jobs(job);
  std::string odd;
  for (const pb::Piece& piece : entry.placement()) {
    const int32_t at = find(piece);
    if (at == kNone) {
      odd = "expected a node with GPUs in its placement, got '" + shortened(piece.node()) + "'";
      continue;
    }
    Node& node = nodes_[static_cast<size_t>(at)];
    uint64_t mask = named_gpu_mask(piece, at);
    if ((mask & (node.running | node.leaving)) != 0) {
      throw InputError(label_of_job(request_, job), "GPUs on which no other job runs or stops",
                       "'" + shortened(piece.node()) + "'");
    }
    if (piece.gpu_ids_size() == 0) {
      // Prefers GPUs which no starting job waits for.
      const uint64_t idle = node.all & ~node.down & ~held(at) & ~node.leaving;
      const uint64_t awaited = node.starting & ~node.leaving;
      const auto want = static_cast<int32_t>(std::min<uint32_t>(piece.gpus(), kMaxNodeGpus));
      const int32_t from_idle = std::min(want, count_bits(idle));
      const int32_t from_awaited = std::min(want - from_idle, count_bits(awaited));
      if (from_idle + from_awaited < want || piece.gpus() > kMaxNodeGpus) {
        odd = "expected GPUs on which no other job runs or stops, got " +
              std::to_string(piece.gpus()) + " on '" + shortened(piece.node()) + "'";
      }
      mask = lowest_bits(idle, from_idle) | lowest_bits(awaited, from_awaited);
    }
    node.leaving |= mask;
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
      int64_t& gpu_until_us = node.until_us[static_cast<size_t>(lowest_set_bit_index(rest))];
      gpu_until_us = std::max(gpu_until_us, until_us);
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
