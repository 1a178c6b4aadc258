#include "serving/snapshot/gpu_ledger.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/rules/rules.h"
#include "serving/snapshot/snapshot.h"

namespace yard {

int64_t checked_seconds_to_us(const std::string& where, const char* what, double seconds) {
  if (!(seconds >= 0 && seconds <= kMaxSeconds)) {
    const std::string got = std::isnan(seconds) ? "NaN" : shortest(seconds);
    throw InputError(where, std::string(what) + " from 0 to 1e10 seconds", got);
  }
  return std::llround(seconds * 1e6);
}

GpuLedger::GpuLedger(const pb::DecideRequest& request, int64_t now_us) {
  if (request.nodes_size() < 1 || request.nodes_size() > kMaxSnapshotNodes) {
    throw InputError("nodes", "1 to " + std::to_string(kMaxSnapshotNodes) + " nodes",
                     std::to_string(request.nodes_size()));
  }
  nodes_.reserve(static_cast<size_t>(request.nodes_size()));
  for (int i = 0; i < request.nodes_size(); ++i) {
    const pb::Node& entry = request.nodes(i);
    const std::string where = "nodes[" + std::to_string(i) + "] '" + entry.name() + "'";
    if (entry.name().empty()) throw InputError(where, "a name", "none");
    if (!by_name_.try_emplace(entry.name(), i).second) {
      throw InputError(where, "unique names", "a duplicate");
    }
    read_node(where, entry, now_us);
  }
}

void GpuLedger::read_node(const std::string& where, const pb::Node& entry, int64_t now_us) {
  if (entry.gpus() < 1 || entry.gpus() > kMaxNodeGpus) {
    throw InputError(where, "1 to 64 GPUs", std::to_string(entry.gpus()));
  }
  const auto check = [&](uint32_t gpu) {
    if (gpu < entry.gpus()) return;
    throw InputError(where, "GPUs 0 to " + std::to_string(entry.gpus() - 1), std::to_string(gpu));
  };
  Node& node = nodes_.emplace_back();
  node.all = low_mask(static_cast<int32_t>(entry.gpus()));
  node.until_us.fill(now_us);
  for (const uint32_t gpu : entry.down()) {
    check(gpu);
    node.down |= uint64_t{1} << gpu;
  }
  for (const pb::Vacating& vacating : entry.vacating()) {
    check(vacating.gpu());
    int64_t& until_us = node.until_us[vacating.gpu()];
    until_us =
        std::max(until_us, checked_seconds_to_us(where, "vacating.until_s", vacating.until_s()));
  }
  installed_ += static_cast<int32_t>(entry.gpus());
}

int32_t GpuLedger::find(const std::string& where, const pb::Piece& piece) const {
  const auto it = by_name_.find(piece.node());
  if (it == by_name_.end()) {
    throw InputError(where, "a node of the request", "'" + piece.node() + "'");
  }
  return it->second;
}

uint64_t GpuLedger::named_gpus(const std::string& where, const pb::Piece& piece,
                               int32_t node) const {
  uint64_t mask = 0;
  for (const uint32_t gpu : piece.gpu_ids()) {
    const uint64_t bit = gpu < kMaxNodeGpus ? uint64_t{1} << gpu : 0;
    if ((bit & nodes_[node].all) == 0) {
      throw InputError(where, "a GPU of node '" + piece.node() + "'", std::to_string(gpu));
    }
    if ((bit & mask) != 0) {
      throw InputError(where, "each GPU once", std::to_string(gpu) + " again");
    }
    mask |= bit;
  }
  if (piece.gpu_ids_size() > 0 && static_cast<uint32_t>(piece.gpu_ids_size()) != piece.gpus()) {
    throw InputError(where, "one gpu_id per GPU (" + std::to_string(piece.gpus()) + ")",
                     std::to_string(piece.gpu_ids_size()));
  }
  return mask;
}

std::vector<LivePart> GpuLedger::hold(const std::string& where, const pb::Job& job) {
  const bool runs = job.state() == pb::RUNNING;
  std::vector<LivePart> parts;
  std::set<int32_t> seen;
  uint64_t sum = 0;
  for (const pb::Piece& piece : job.placement()) {
    const int32_t at = find(where, piece);
    Node& node = nodes_[at];
    if (!seen.insert(at).second) {
      throw InputError(where, "each node once", "'" + piece.node() + "' again");
    }
    uint64_t mask = named_gpus(where, piece, at);
    const uint64_t taken = node.starting | node.running;
    if ((mask & taken) != 0) {
      throw InputError(where, "GPUs that no other job holds",
                       "'" + piece.node() + "' GPU " + std::to_string(lowest_bit(mask & taken)));
    }
    if (mask == 0) {
      const uint64_t left = node.all & ~node.down & ~taken;
      if (piece.gpus() < 1 || piece.gpus() > static_cast<uint32_t>(count_bits(left))) {
        throw InputError(where,
                         "1 to " + std::to_string(count_bits(left)) +
                             " GPUs, those left on node '" + piece.node() + "'",
                         std::to_string(piece.gpus()));
      }
      mask = lowest_bits(left, static_cast<int32_t>(piece.gpus()));
    }
    (runs ? node.running : node.starting) |= mask;
    parts.push_back({at, mask});
    sum += piece.gpus();
  }
  if (sum != job.gpus()) {
    throw InputError(where, "a placement with all its " + std::to_string(job.gpus()) + " GPUs",
                     std::to_string(sum));
  }
  return parts;
}

void GpuLedger::vacate(const std::string& where, const pb::Job& job, int64_t until_us) {
  for (const pb::Piece& piece : job.placement()) {
    const int32_t at = find(where, piece);
    Node& node = nodes_[at];
    uint64_t mask = named_gpus(where, piece, at);
    if ((mask & (node.running | node.leaving)) != 0) {
      throw InputError(where, "GPUs on which no other job runs or stops", "'" + piece.node() + "'");
    }
    if (mask == 0) {
      // Prefers GPUs which no starting job waits for.
      const uint64_t idle = node.all & ~node.down & ~held(at) & ~node.leaving;
      const uint64_t awaited = node.starting & ~node.leaving;
      const int32_t want = static_cast<int32_t>(std::min<uint32_t>(piece.gpus(), kMaxNodeGpus));
      const int32_t from_idle = std::min(want, count_bits(idle));
      if (count_bits(awaited) < want - from_idle || piece.gpus() > kMaxNodeGpus) {
        throw InputError(where, "GPUs on which no other job runs or stops",
                         std::to_string(piece.gpus()) + " on '" + piece.node() + "'");
      }
      mask = lowest_bits(idle, from_idle) | lowest_bits(awaited, want - from_idle);
    }
    node.leaving |= mask;
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
      int64_t& gpu_until_us = node.until_us[static_cast<size_t>(lowest_bit(rest))];
      gpu_until_us = std::max(gpu_until_us, until_us);
    }
  }
}

bool GpuLedger::uses_failed_gpus(const std::vector<LivePart>& parts) const {
  return std::ranges::any_of(
      parts, [this](const LivePart& part) { return (nodes_[part.node].down & part.mask) != 0; });
}

uint64_t GpuLedger::renumbered_without_gaps(int32_t node, uint64_t mask) const {
  uint64_t out = 0;
  const uint64_t all = usable(node);
  for (uint64_t rest = mask & all; rest != 0; rest &= rest - 1) {
    out |= uint64_t{1} << count_bits(all & low_mask(lowest_bit(rest)));
  }
  return out;
}

}  // namespace yard
