// kube-scheduler's cycle for one pod after the other, with the default plugins' scores, as a client
// of a scheduler extender.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/core/rng.h"

namespace yard::testing::kube {

struct KubePod {
  std::string name;
  int gpus = 0;
  double cores = 0, mem_gib = 0;
};

struct KubeOptions {
  int nodes = 64;
  int gpus = 8;  // of a node
  double cores = 96, mem_gib = 768;
  bool names_only = false;           // nodeCacheCapable
  double weight = 5;                 // of the extender's score; 0: there is no extender
  bool asks_filter = false;          // else only prioritize
  bool free_as_allocatable = false;  // a Node object says what is free, not what there is
  double elsewhere = 0;              // share of pods that go to any node with room
  uint64_t seed = 1;
};

// Answers POST /k8s/VERB.
using AskExtender = std::function<nlohmann::json(std::string_view verb, const std::string& body)>;

class KubeScheduler {
 public:
  KubeScheduler(const KubeOptions& options, AskExtender ask);

  // Binds the pod to the node with the highest total score, one of these at random; returns its
  // index, or -1 if no node fits.
  int schedule(const KubePod& pod);
  // GPUs of a node that other schedulers' pods hold.
  void take(size_t node, int gpus) { nodes_[node].used_gpus += gpus; }
  // Ends the pod with that index in the order of binding.
  void end(size_t bound);

  const std::string& name(size_t node) const { return nodes_[node].name; }
  int used(size_t node) const { return nodes_[node].used_gpus; }

  // The nodes and the bound pods as `kubectl get nodes,pods -o json` prints them.
  nlohmann::json list() const;

 private:
  struct Node {
    std::string name;
    int used_gpus = 0;
    double cores = 0, mem_gib = 0;  // requested by its pods
  };
  struct Bound {
    KubePod pod;
    size_t node;
  };
  double default_score(const Node& node, const KubePod& pod) const;
  std::string args(const KubePod& pod, const std::vector<size_t>& feasible) const;
  nlohmann::json node_object(size_t node) const;

  const KubeOptions options_;
  const AskExtender ask_;
  Rng rng_;
  std::vector<Node> nodes_;
  std::vector<Bound> bound_;
  size_t next_start_ = 0;  // node at which the search for the next pod begins
};

// A v1.Pod as kube-scheduler sends it.
nlohmann::json pod_object(const KubePod& pod);

// The 200 pods of the issue: 1, 1, 2, 1, 4, 8, 1 and 2 GPUs in turn.
std::vector<KubePod> pods_in_turn(int count);

}  // namespace yard::testing::kube
