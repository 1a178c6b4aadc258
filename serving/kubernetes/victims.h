// Which nodes kube-scheduler should consider for a preemption.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace yard::kubernetes {

struct Victim {
  std::string id;
  // Unknown if kube-scheduler sends the UID only, and no report names the pod.
  std::optional<int32_t> gpus = {}, priority = {};
};

struct NodeWithVictims {
  std::string node;
  std::vector<Victim> victims;
  int64_t budget_violations = 0;  // of PodDisruptionBudgets
};

// Returns the candidates with the cheapest victims: the fewest violated budgets, then the lowest
// highest priority, then the fewest GPUs and the fewest pods. If a priority is unknown, only
// budgets count. The first two criteria are kube-scheduler's own. Victims are not changed.
std::vector<NodeWithVictims> nodes_with_cheapest_victims(std::vector<NodeWithVictims> candidates);

}  // namespace yard::kubernetes
