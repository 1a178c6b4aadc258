#include "serving/snapshot/node_table.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/rules/rules.h"
#include "serving/snapshot/snapshot.h"

namespace yard {

std::optional<int64_t> seconds_to_us(double seconds) {
  if (!(seconds >= 0 && seconds <= kMaxSeconds)) return {};
  return std::llround(seconds * 1e6);
}

std::string invalid_seconds_text(const char* what, double seconds) {
  return std::string("expected ") + what + " from 0 to 1e10 seconds, got " +
         (std::isnan(seconds) ? "NaN" : shortest_text(seconds));
}

// Without groups, a task is a GPU.
uint32_t gpus_of_a_task(const pb::Job& job, const pb::Piece& piece) {
  const auto group = static_cast<int>(std::min<uint32_t>(piece.group(), INT32_MAX));
  return group < job.groups_size() ? job.groups(group).task().gpus() : 1;
}

NodeTable::NodeTable(const pb::DecideRequest& request)
    : tenants_(request), left_to_manager_(request) {
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
    const std::string flaw = read_node(entry, node);
    installed_ += count_bits(node.all);
    any_down_ |= node.down != 0;
    if (!flaw.empty()) {
      quarantine_.add(pb::Quarantined::NODE, entry.name(), flaw, node.all != 0);
    }
  }
}

// An invalid node keeps the GPUs that its jobs hold, and offers none.
std::string NodeTable::read_node(const pb::Node& entry, Node& node) {
  if (entry.name().empty()) return "no name";
  if (entry.name().size() > kMaxIdBytes) return "the name is longer than 1024 bytes";
  if (entry.gpus() < 1 || entry.gpus() > kMaxNodeGpus) {
    return "expected 1 to 64 GPUs, got " + std::to_string(entry.gpus());
  }
  node.all = mask_of_low_bits(static_cast<int32_t>(entry.gpus()));
  std::string flaw;
  const auto check = [&](uint32_t gpu) {
    if (gpu < entry.gpus()) return true;
    flaw =
        "expected GPUs 0 to " + std::to_string(entry.gpus() - 1) + ", got " + std::to_string(gpu);
    return false;
  };
  for (const uint32_t gpu : entry.down()) {
    if (check(gpu)) node.down |= uint64_t{1} << gpu;
  }
  for (const pb::Vacating& vacating : entry.vacating()) {
    if (!check(vacating.gpu())) continue;
    const auto until_us = seconds_to_us(vacating.until_s());
    if (!until_us) flaw = invalid_seconds_text("vacating.until_s", vacating.until_s());
    extend_times(vacating_, node.vacating, static_cast<int32_t>(vacating.gpu()),
                 until_us.value_or(0));
  }
  if (flaw.empty()) flaw = flaw_of_node_features(entry, tenants_);
  if (!flaw.empty()) node.down = node.all;
  node.has_valid_features = flaw.empty();
  return flaw;
}

void extend_times(std::vector<GpuTimes>& times, int32_t& entry, int32_t gpu, int64_t until_us) {
  if (entry == kNone) {
    entry = static_cast<int32_t>(times.size());
    times.emplace_back().fill(0);
  }
  int64_t& last_us = times[static_cast<size_t>(entry)][static_cast<size_t>(gpu)];
  last_us = std::max(last_us, until_us);
}

int32_t NodeTable::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() || (*this)[it->second].all == 0 ? kNone : it->second;
}

uint64_t NodeTable::named_gpu_mask(const pb::Piece& piece, int32_t node) const {
  uint64_t mask = 0;
  for (const uint32_t gpu : piece.gpu_ids()) mask |= gpu < kMaxNodeGpus ? uint64_t{1} << gpu : 0;
  return mask & (*this)[node].all;
}

std::string NodeTable::flaw_of_gpu_numbers(const pb::Piece& piece, int32_t node) const {
  const uint64_t all = (*this)[node].all;
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

std::string NodeTable::flaw_of_placement(const pb::Job& job) const {
  std::set<std::pair<int32_t, uint32_t>> seen;
  const auto name = [](const pb::Piece& piece) { return "'" + shortened(piece.node()) + "'"; };
  for (const pb::Piece& piece : job.placement()) {
    const int32_t at = find(piece.node());
    if (at == kNone) return "expected a placement on nodes with GPUs, got " + name(piece);
    if (job.placement_size() > 1 && !seen.insert({at, piece.group()}).second) {
      return "expected each node once" + std::string(job.groups_size() > 0 ? " for a group" : "") +
             ", got " + name(piece) + " again";
    }
    if (std::string flaw = flaw_of_tasks(job, piece); !flaw.empty()) return flaw;
    const auto most = static_cast<uint32_t>(count_bits((*this)[at].all));
    const uint32_t least = gpus_of_a_task(job, piece) == 0 ? 0 : 1;
    if (piece.gpus() < least || piece.gpus() > most) {
      return "expected 1 to " + std::to_string(most) + " GPUs on node " + name(piece) + ", got " +
             std::to_string(piece.gpus());
    }
    if (std::string flaw = flaw_of_gpu_numbers(piece, at); !flaw.empty()) return flaw;
  }
  return job.state() == pb::STOPPING ? "" : flaw_of_gpu_sum(job);
}

std::string NodeTable::flaw_of_tasks(const pb::Job& job, const pb::Piece& piece) {
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
std::string NodeTable::flaw_of_gpu_sum(const pb::Job& job) {
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

}  // namespace yard
