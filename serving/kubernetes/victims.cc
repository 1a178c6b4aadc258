#include "serving/kubernetes/victims.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace yard::kubernetes {
namespace {

// Keeps the candidates with the least value.
template <class Value>
void keep_least(std::vector<NodeWithVictims>& candidates, Value value_of) {
  if (candidates.empty()) return;
  auto least = value_of(candidates.front());
  for (const auto& one : candidates) least = std::min(least, value_of(one));
  std::erase_if(candidates, [&](const auto& one) { return value_of(one) > least; });
}

std::tuple<int32_t, int64_t, size_t> cost(const NodeWithVictims& candidate) {
  int32_t priority = std::numeric_limits<int32_t>::min();
  int64_t gpus = 0;
  for (const Victim& one : candidate.victims) {
    priority = std::max(priority, *one.priority);
    gpus += *one.gpus;
  }
  return {priority, gpus, candidate.victims.size()};
}

}  // namespace

std::vector<NodeWithVictims> nodes_with_cheapest_victims(std::vector<NodeWithVictims> candidates) {
  keep_least(candidates, [](const auto& one) { return one.budget_violations; });
  const bool known = std::ranges::all_of(candidates, [](const auto& candidate) {
    return std::ranges::all_of(candidate.victims,
                               [](const Victim& one) { return one.gpus && one.priority; });
  });
  if (known) keep_least(candidates, cost);
  return candidates;
}

}  // namespace yard::kubernetes
