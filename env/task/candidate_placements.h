// Candidate placements of a waiting job, and ways to exchange gradients on them. Unlike
// env/sim/placement/options.h, this file ignores GPU types, preemption and moves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "env/scheduling/exchange_terms.h"
#include "env/scheduling/preempt_to_start.h"
#include "env/sim/placement/placement_rules.h"

namespace yard {

struct CandidatePlacement {
  // Bit mask of the rules of candidate_placements() that lead to this placement.
  enum Rule : uint8_t { kTight = 1, kEven = 2, kQuiet = 4, kClear = 8 };
  static constexpr int kRules = 4;
  uint8_t rules = 0;
  std::vector<Piece> pieces = {};
};

// Returns the placements of a waiting job, `tight` first; none if the job cannot start at present.
//   tight   on the fewest nodes with free GPUs for it, best-fit
//   even    one GPU at a time on the node with the most left
//   quiet   on equally few nodes, those with the fewest GPUs in use
//   clear   on the nodes with the least traffic on their uplinks, taking all free GPUs there
inline std::vector<CandidatePlacement> candidate_placements(const View& view,
                                                            const ThroughputModel& throughput_model,
                                                            int32_t slot) {
  const SpecColumns& spec = view.spec();
  std::vector<CandidatePlacement> out;
  const std::vector<Piece> tight = best_fit(view, slot);
  if (tight.empty()) return out;
  out.push_back({CandidatePlacement::kTight, tight});
  if (view.shaped(slot)) return out;
  const std::span<const int32_t> nodes =
      throughput_model.nodes_of_type(throughput_model.node_type(tight[0].node));
  const int32_t gpus = view.gpus(slot);
  const auto fill_in_order = [&](CandidatePlacement::Rule rule, const auto& key) {
    std::vector<int32_t> order(nodes.begin(), nodes.end());
    std::ranges::stable_sort(order, {}, key);
    CandidatePlacement found{rule, {}};
    int32_t left = gpus;
    for (const int32_t node : order) {
      const int32_t n = std::min(left, view.node_free_gpus(node));
      if (n > 0) found.pieces.push_back({node, n});
      left -= n;
    }
    if (left == 0) out.push_back(std::move(found));
  };
  const auto used = [&](int32_t node) { return spec.node_gpus[node] - view.node_free_gpus(node); };

  CandidatePlacement even{CandidatePlacement::kEven, {}};
  std::vector<int32_t> got(static_cast<size_t>(spec.num_nodes), 0);
  int32_t placed = 0;
  for (; placed < gpus; ++placed) {
    const auto left = [&](int32_t node) {
      return view.node_free_gpus(node) - got[static_cast<size_t>(node)];
    };
    const auto emptiest = std::ranges::max_element(nodes, {}, left);
    if (emptiest == nodes.end() || left(*emptiest) == 0) break;
    ++got[static_cast<size_t>(*emptiest)];
  }
  for (const int32_t node : nodes) {
    if (got[static_cast<size_t>(node)] > 0) {
      even.pieces.push_back({node, got[static_cast<size_t>(node)]});
    }
  }
  if (placed == gpus) out.push_back(std::move(even));
  // Places the job on one node if one can hold it, or else on the nodes that give most GPUs.
  fill_in_order(CandidatePlacement::kQuiet, [&](int32_t node) {
    const int32_t given = std::min(gpus, view.node_free_gpus(node));
    return std::pair(-given, used(node));
  });
  fill_in_order(CandidatePlacement::kClear, [&](int32_t node) {
    return std::pair(view.link_bytes_per_s(node), -int64_t{view.node_free_gpus(node)});
  });

  // Merges equal placements.
  std::vector<CandidatePlacement> distinct;
  for (CandidatePlacement& one : out) {
    std::ranges::sort(one.pieces, {}, &Piece::node);
    const auto same = std::ranges::find_if(
        distinct, [&](const CandidatePlacement& other) { return other.pieces == one.pieces; });
    if (same == distinct.end()) {
      distinct.push_back(std::move(one));
    } else {
      same->rules |= one.rules;
    }
  }
  return distinct;
}

// Returns the settings of all-reduce on `pieces`, the job's own at priority 0 first: algorithms
// that differ in speed on `pieces`, each with every priority if the job spans links.
inline std::vector<AllReduceSettings> all_reduce_options(const ThroughputModel& throughput_model,
                                                         int32_t slot,
                                                         std::span<const Piece> pieces) {
  std::vector<Pattern> patterns;
  std::vector<double> speeds;
  for (const Pattern by :
       {Pattern::kNone, Pattern::kRing, Pattern::kTree, Pattern::kHierarchical}) {
    const double speed = throughput_model.isolated_throughput(slot, pieces, by).speed;
    if (std::ranges::count(speeds, speed) > 0) continue;
    speeds.push_back(speed);
    patterns.push_back(by);
  }
  std::vector<AllReduceSettings> out;
  const int priorities = pieces.size() > 1 ? kLinkPriorities : 1;
  for (const Pattern by : patterns) {
    for (int p = 0; p < priorities; ++p) out.push_back({by, static_cast<uint8_t>(p)});
  }
  return out;
}

}  // namespace yard
