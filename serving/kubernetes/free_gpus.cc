#include "serving/kubernetes/free_gpus.h"

#include <algorithm>
#include <map>
#include <utility>

#include "serving/snapshot/snapshot.h"

namespace yard::kubernetes {
namespace {

constexpr size_t kMaxNodes = size_t{2} * kMaxSnapshotNodes;
constexpr size_t kMaxAssumed = size_t{1} << 17;  // beyond, nothing more is assumed
// Absences are ignored if offers contradict more than this share of them, as when kube-scheduler
// looks at a part of the nodes only.
constexpr int32_t kWrongInverse = 4;
constexpr int32_t kMinAbsences = 16, kMaxAbsences = 4096;

}  // namespace

FreeGpuEstimator::Node& FreeGpuEstimator::node_of(const std::string& name, Time now) {
  const auto it = nodes_.find(name);
  if (it == nodes_.end() && nodes_.size() >= kMaxNodes) forget_old_nodes();
  Node& out = it == nodes_.end() ? nodes_[name] : it->second;
  out.seen = now;
  expire_old_evidence(out, now);
  return out;
}

// Forgets the quarter of the nodes that were not seen for longest.
void FreeGpuEstimator::forget_old_nodes() {
  std::vector<Time> seen;
  for (const auto& [name, node] : nodes_) seen.push_back(node.seen);
  const auto quarter = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 4);
  std::ranges::nth_element(seen, quarter);
  std::erase_if(nodes_, [&](const auto& entry) {
    if (entry.second.seen > *quarter) return false;
    for (const AssumedPod& one : entry.second.assumed) node_of_pod_.erase(one.pod);
    return true;
  });
}

int32_t FreeGpuEstimator::node_gpus_or_guess(const Node& node) const {
  if (node.reported) return node.reported->gpus;
  return node.size.value_or(largest_size_);
}

// The estimate without the bounds.
int32_t FreeGpuEstimator::estimate_without_bounds(const Node& node) const {
  int32_t out = node_gpus_or_guess(node) - (node.reported ? node.reported->used : 0);
  for (const AssumedPod& one : node.assumed) out -= one.gpus;
  return out;
}

int32_t FreeGpuEstimator::estimate_free_gpus(const Node& node) const {
  int32_t out = estimate_without_bounds(node);
  const bool trusted = absences_right_ + absences_wrong_ < kMinAbsences ||
                       absences_wrong_ * kWrongInverse < absences_right_ + absences_wrong_;
  if (node.at_most && trusted) out = std::min(out, node.at_most->gpus);
  if (node.at_least) out = std::max(out, node.at_least->gpus);
  return std::max(out, 0);
}

void FreeGpuEstimator::expire_old_evidence(Node& node, Time now) {
  const Time oldest = now - memory_;
  while (!node.assumed.empty() && node.assumed.front().since < oldest) end_assumption(node, 0);
  if (node.at_least && node.at_least->since < oldest) node.at_least.reset();
  if (node.at_most && node.at_most->since < oldest) node.at_most.reset();
}

void FreeGpuEstimator::end_assumption(Node& node, size_t index) {
  const auto it = node.assumed.begin() + static_cast<std::ptrdiff_t>(index);
  for (std::optional<FreeGpusBound>* bound : {&node.at_least, &node.at_most}) {
    if (*bound && (*bound)->order < it->order) (*bound)->gpus += it->gpus;
  }
  node_of_pod_.erase(it->pod);
  node.assumed.erase(it);
}

int32_t FreeGpuEstimator::end_oldest_assumptions(Node& node, int32_t gpus) {
  for (size_t i = 0; i < node.assumed.size();) {
    if (node.assumed[i].gpus > gpus) {
      ++i;
      continue;
    }
    gpus -= node.assumed[i].gpus;
    // What ends is now part of the use: bounds are shifted by it still.
    node_of_pod_.erase(node.assumed[i].pod);
    node.assumed.erase(node.assumed.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return gpus;
}

// Ends for each number of GPUs the oldest assumption of just as many, on any node.
void FreeGpuEstimator::end_assumptions_of_sizes(const std::vector<int32_t>& gpus) {
  if (gpus.empty()) return;
  std::map<int32_t, std::map<uint64_t, std::string>> pods;  // by GPUs and age
  for (const auto& [name, node] : nodes_) {
    for (const AssumedPod& one : node.assumed) pods[one.gpus][one.order] = one.pod;
  }
  for (const int32_t each : gpus) {
    auto& equal = pods[each];
    if (equal.empty()) continue;
    forget(equal.begin()->second);
    equal.erase(equal.begin());
  }
}

void FreeGpuEstimator::set_node_gpus(const std::string& name, int32_t gpus, Time now) {
  Node& node = node_of(name, now);
  if (node.reported) return;
  // Some send what is free as allocatable: what a pod was assumed to take is then gone from it.
  if (node.size && gpus < *node.size) end_oldest_assumptions(node, *node.size - gpus);
  node.size = gpus;
}

void FreeGpuEstimator::set_report(const ClusterUse& use, Time now) {
  const bool first = !report_time_ || *report_time_ < now - memory_;
  report_time_ = now;
  for (auto& [name, node] : nodes_) {
    if (first) {
      while (!node.assumed.empty()) end_assumption(node, node.assumed.size() - 1);
    }
    if (!use.nodes.contains(name)) node.reported.reset();
    node.at_least.reset();
    node.at_most.reset();
  }
  std::unordered_map<std::string, int32_t> named;  // GPUs of pods which the report names, by node
  for (const auto& [pod, holder] : use.holders) {
    const auto it = node_of_pod_.find(pod);
    if (it == node_of_pod_.end()) continue;
    named[holder.node] += holder.gpus;
    forget(pod);
  }
  std::vector<int32_t> unexplained;
  for (const auto& [name, now_used] : use.nodes) {
    Node& node = node_of(name, now);
    if (node.reported) {
      const int32_t before = node.reported->gpus - node.reported->used;
      const int32_t gained = before - (now_used.gpus - now_used.used);
      const auto it = named.find(name);
      const int32_t rest = gained - (it == named.end() ? 0 : it->second);
      const int32_t elsewhere = rest > 0 ? end_oldest_assumptions(node, rest) : 0;
      if (elsewhere > 0) unexplained.push_back(elsewhere);
    }
    node.reported = now_used;
    node.size = now_used.gpus;
  }
  end_assumptions_of_sizes(unexplained);
}

// The node has so many free GPUs, whatever was known before.
void FreeGpuEstimator::note_proven_room(Node& node, int32_t gpus, Time now) {
  if (node.at_most) {
    const bool wrong = node.at_most->gpus < gpus;
    ++(wrong ? absences_wrong_ : absences_right_);
    if (absences_right_ + absences_wrong_ > kMaxAbsences) {
      absences_right_ /= 2;
      absences_wrong_ /= 2;
    }
    if (wrong) node.at_most.reset();
  }
  if (estimate_free_gpus(node) >= gpus) return;
  if (!node.size && !node.reported) largest_size_ = std::max(largest_size_, gpus);
  // An assumption was wrong: the smallest whose end is enough, else the largest.
  while (estimate_without_bounds(node) < gpus && !node.assumed.empty()) {
    const int32_t lacking = gpus - estimate_without_bounds(node);
    size_t best = 0;
    for (size_t i = 1; i < node.assumed.size(); ++i) {
      const int32_t a = node.assumed[i].gpus, b = node.assumed[best].gpus;
      const bool better = b < lacking ? a > b : a >= lacking && a <= b;
      if (better) best = i;
    }
    end_assumption(node, best);
  }
  node.at_least = FreeGpusBound{gpus, now, ++order_};
}

void FreeGpuEstimator::learn_from_offer(std::span<const std::string> nodes, int32_t gpus,
                                        bool all_with_room,
                                        const std::function<bool(const std::string&)>& reserved,
                                        Time now) {
  if (gpus <= 0) return;
  ++offers_;
  for (const std::string& name : nodes) {
    Node& node = node_of(name, now);
    node.offered = offers_;
    if (!node.size && !node.reported) {
      // All nodes of unknown size count as equally large.
      int32_t held = gpus;
      for (const AssumedPod& one : node.assumed) held += one.gpus;
      largest_size_ = std::max(largest_size_, held);
    }
    note_proven_room(node, gpus, now);
  }
  if (!all_with_room) return;
  for (auto& [name, node] : nodes_) {
    if (node.offered == offers_ || reserved(name)) continue;
    expire_old_evidence(node, now);
    if (estimate_free_gpus(node) < gpus) continue;
    node.at_least.reset();
    node.at_most = FreeGpusBound{gpus - 1, now, ++order_};
  }
}

void FreeGpuEstimator::assume_pod_on_node(const std::string& pod, const std::string& name,
                                          int32_t gpus, Time now) {
  if (gpus <= 0 || node_of_pod_.size() >= kMaxAssumed) return;
  forget(pod);
  Node& node = node_of(name, now);
  // A pod without a name is another one each time.
  const std::string id = pod.empty() ? "#" + std::to_string(order_) : pod;
  node.assumed.push_back({id, gpus, now, ++order_});
  for (std::optional<FreeGpusBound>* bound : {&node.at_least, &node.at_most}) {
    if (*bound) (*bound)->gpus -= gpus;
  }
  node_of_pod_[id] = name;
}

void FreeGpuEstimator::forget(const std::string& pod) {
  const auto it = node_of_pod_.find(pod);
  if (it == node_of_pod_.end()) return;
  Node& node = nodes_.at(it->second);
  const auto at = std::ranges::find(node.assumed, pod, &AssumedPod::pod);
  end_assumption(node, static_cast<size_t>(at - node.assumed.begin()));
}

int32_t FreeGpuEstimator::free_gpus(const std::string& name, Time now) {
  const auto it = nodes_.find(name);
  if (it == nodes_.end()) return 0;
  expire_old_evidence(it->second, now);
  return estimate_free_gpus(it->second);
}

bool FreeGpuEstimator::knows_node_size(const std::string& name) const {
  const auto it = nodes_.find(name);
  return it != nodes_.end() && (it->second.size || it->second.reported);
}

const ClusterUse::Node* FreeGpuEstimator::reported(const std::string& name) const {
  const auto it = nodes_.find(name);
  return it != nodes_.end() && it->second.reported ? &*it->second.reported : nullptr;
}

}  // namespace yard::kubernetes
