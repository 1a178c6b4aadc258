// An estimate of the free GPUs of each node of a Kubernetes cluster, from what a scheduler extender
// gets to know. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace yard::kubernetes {

// The GPUs of a cluster and the pods that hold them, as reported by its manager.
struct ClusterUse {
  struct Node {
    int32_t gpus = 0;  // usable GPUs of the node
    int32_t used = 0;  // GPUs that pods hold
  };
  struct Holder {
    std::string node;
    int32_t gpus = 0;
    std::optional<int32_t> priority;
    std::string group;  // NAMESPACE/NAME of the pod's group; empty: none
  };
  std::unordered_map<std::string, Node> nodes;      // by name
  std::unordered_map<std::string, Holder> holders;  // pods with GPUs, by UID or NAMESPACE/NAME
};

// kube-scheduler does not tell an extender which GPUs are in use, nor where it has bound a pod.
// There are four sources, from the strongest to the weakest:
//  - a report of the cluster's use;
//  - an offer: each node that kube-scheduler offers for a pod has room for it;
//  - an absence: a node that it does not offer has none, unless the list is cut short;
//  - an assumption: a pod was bound to the node to which we gave the best score.
// An estimate from a weaker source ends when a stronger or later source contradicts it, or with
// time.
class FreeGpuEstimator {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  // `memory`: time for which an assumption, an offer or an absence counts.
  explicit FreeGpuEstimator(Clock::duration memory) : memory_(memory) {}

  // Sets the number of GPUs of a node, as its Node object gives it. Has no effect on nodes that the
  // last report lists.
  void set_node_gpus(const std::string& node, int32_t gpus, Time now);

  // Replaces the last report of use. GPUs that came into use since the report before end
  // assumptions of as many GPUs.
  void set_report(const ClusterUse& use, Time now);

  // Takes note that kube-scheduler offers `nodes` for a pod of `gpus` GPUs. `all_with_room`: nodes
  // that are not offered lack room, except those for which `reserved` returns true.
  void learn_from_offer(std::span<const std::string> nodes, int32_t gpus, bool all_with_room,
                        const std::function<bool(const std::string&)>& reserved, Time now);

  void assume_pod_on_node(const std::string& pod, const std::string& node, int32_t gpus, Time now);
  // Ends the assumption on where the pod was bound, if there is one.
  void forget(const std::string& pod);

  // Returns the estimated number of free GPUs of a node, at least 0.
  int32_t free_gpus(const std::string& node, Time now);
  // Returns whether the number of GPUs of the node is known.
  bool knows_node_size(const std::string& node) const;
  // Returns the last report's size and use of the node; null pointer: it has none.
  const ClusterUse::Node* reported(const std::string& node) const;
  std::optional<Time> report_time() const { return report_time_; }

 private:
  struct AssumedPod {
    std::string pod;
    int32_t gpus;
    Time since;
    uint64_t order;
  };
  // A lower or upper bound on the free GPUs. Later assumptions on the node shift it.
  struct FreeGpusBound {
    int32_t gpus;
    Time since;
    uint64_t order;
  };
  struct Node {
    std::optional<int32_t> size;
    std::optional<ClusterUse::Node> reported;
    std::vector<AssumedPod> assumed = {};  // by age
    std::optional<FreeGpusBound> at_least = {}, at_most = {};
    uint64_t offered = 0;  // number of the last offer with this node
    Time seen = {};
  };

  Node& node_of(const std::string& name, Time now);
  void forget_old_nodes();
  int32_t node_gpus_or_guess(const Node& node) const;
  int32_t estimate_without_bounds(const Node& node) const;
  int32_t estimate_free_gpus(const Node& node) const;
  void expire_old_evidence(Node& node, Time now);
  void end_assumption(Node& node, size_t index);
  // Ends assumptions, the oldest first, of at most so many GPUs; returns how many are left.
  int32_t end_oldest_assumptions(Node& node, int32_t gpus);
  void end_assumptions_of_sizes(const std::vector<int32_t>& gpus);
  void note_proven_room(Node& node, int32_t gpus, Time now);

  const Clock::duration memory_;
  std::unordered_map<std::string, Node> nodes_;
  std::unordered_map<std::string, std::string> node_of_pod_;  // of assumptions
  std::optional<Time> report_time_;
  int32_t largest_size_ = 0;  // most GPUs that offers prove for a node of unknown size
  uint64_t order_ = 0;
  uint64_t offers_ = 0;
  // Numbers of absences that later offers confirmed and contradicted.
  int32_t absences_right_ = 0, absences_wrong_ = 0;
};

}  // namespace yard::kubernetes
