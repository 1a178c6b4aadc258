#include "tests/serving/kubernetes/kube_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

namespace yard::testing::kube {
namespace {

using nlohmann::json;

// What the default plugins count for a pod that requests nothing.
constexpr double kDefaultCores = 0.1, kDefaultMemGib = 200.0 / 1024;
constexpr double kMaxNodeScore = 100, kMaxExtenderScore = 10;

// kube-scheduler's numFeasibleNodesToFind with percentageOfNodesToScore 0.
size_t nodes_to_find(size_t nodes) {
  if (nodes < 100) return nodes;
  const size_t percentage = std::max<size_t>(5, 50 - std::min<size_t>(nodes / 125, 45));
  return std::max<size_t>(100, nodes * percentage / 100);
}

double cores_of(const KubePod& pod) { return pod.cores > 0 ? pod.cores : kDefaultCores; }
double mem_of(const KubePod& pod) { return pod.mem_gib > 0 ? pod.mem_gib : kDefaultMemGib; }

}  // namespace

json pod_object(const KubePod& pod) {
  json requests = json::object();
  if (pod.cores > 0) requests["cpu"] = fmt::format("{:g}", pod.cores);
  if (pod.mem_gib > 0) requests["memory"] = fmt::format("{:g}Gi", pod.mem_gib);
  if (pod.gpus > 0) requests["nvidia.com/gpu"] = std::to_string(pod.gpus);
  return {{"metadata",
           {{"name", pod.name},
            {"namespace", "default"},
            {"uid", "uid-" + pod.name},
            {"creationTimestamp", nullptr}}},
          {"spec",
           {{"containers",
             json::array({{{"name", "main"},
                           {"image", "train:1"},
                           {"resources", {{"limits", requests}, {"requests", requests}}}}})},
            {"schedulerName", "default-scheduler"}}},
          {"status", {{"phase", "Pending"}}}};
}

std::vector<KubePod> pods_in_turn(int count) {
  constexpr int kGpus[] = {1, 1, 2, 1, 4, 8, 1, 2};
  std::vector<KubePod> out;
  for (int i = 0; i < count; ++i) out.push_back({fmt::format("pod-{}", i), kGpus[i % 8]});
  return out;
}

KubeScheduler::KubeScheduler(const KubeOptions& options, AskExtender ask)
    : options_(options), ask_(std::move(ask)), rng_(options.seed) {
  for (int i = 0; i < options.nodes; ++i) nodes_.push_back({fmt::format("node-{:03}", i)});
}

double KubeScheduler::default_score(const Node& node, const KubePod& pod) const {
  const double cores = (node.cores + cores_of(pod)) / options_.cores;
  const double mem = (node.mem_gib + mem_of(pod)) / options_.mem_gib;
  const auto least = [](double share) {
    return share > 1 ? 0 : std::floor((1 - share) * kMaxNodeScore);
  };
  const double least_allocated = std::floor((least(cores) + least(mem)) / 2);
  const double balanced = std::floor((1 - std::abs(cores - mem) / 2) * kMaxNodeScore);
  // The other default plugins score all these nodes alike.
  return least_allocated + balanced;
}

json KubeScheduler::node_object(size_t node) const {
  const int gpus = options_.gpus - (options_.free_as_allocatable ? nodes_[node].used_gpus : 0);
  const json amounts = {{"cpu", fmt::format("{:g}", options_.cores)},
                        {"memory", fmt::format("{:g}Gi", options_.mem_gib)},
                        {"nvidia.com/gpu", std::to_string(gpus)},
                        {"pods", "110"}};
  return {{"metadata", {{"name", nodes_[node].name}, {"creationTimestamp", nullptr}}},
          {"spec", json::object()},
          {"status", {{"allocatable", amounts}, {"capacity", amounts}}}};
}

std::string KubeScheduler::args(const KubePod& pod, const std::vector<size_t>& feasible) const {
  json out = {{"Pod", pod_object(pod)}, {"Nodes", nullptr}, {"NodeNames", nullptr}};
  json list = json::array();
  for (const size_t node : feasible) {
    list.push_back(options_.names_only ? json(nodes_[node].name) : node_object(node));
  }
  if (options_.names_only) {
    out["NodeNames"] = std::move(list);
  } else {
    out["Nodes"] = {{"metadata", json::object()}, {"items", std::move(list)}};
  }
  return out.dump();
}

int KubeScheduler::schedule(const KubePod& pod) {
  std::vector<size_t> feasible;
  const size_t start = next_start_, most = nodes_to_find(nodes_.size());
  for (size_t i = 0; i < nodes_.size() && feasible.size() < most; ++i) {
    const size_t node = (start + i) % nodes_.size();
    next_start_ = (node + 1) % nodes_.size();
    const Node& at = nodes_[node];
    if (at.used_gpus + pod.gpus <= options_.gpus && at.cores + pod.cores <= options_.cores &&
        at.mem_gib + pod.mem_gib <= options_.mem_gib) {
      feasible.push_back(node);
    }
  }
  if (!feasible.empty() && options_.weight > 0 && options_.asks_filter) {
    const json left = ask_("filter", args(pod, feasible));
    std::vector<std::string> names;
    if (options_.names_only) {
      for (const json& name : left.at("NodeNames")) names.push_back(name);
    } else {
      for (const json& node : left.at("Nodes").at("items"))
        names.push_back(node.at("metadata").at("name"));
    }
    std::erase_if(feasible, [&](size_t node) {
      return std::ranges::find(names, nodes_[node].name) == names.end();
    });
  }
  if (feasible.empty()) return -1;
  std::map<std::string, double> from_extender;
  if (options_.weight > 0) {
    for (const json& score : ask_("prioritize", args(pod, feasible))) {
      from_extender[score.at("Host")] = score.at("Score");
    }
    if (from_extender.size() != feasible.size()) throw std::runtime_error("scores are missing");
  }
  std::vector<size_t> best;
  double highest = -1;
  for (const size_t node : feasible) {
    double score = default_score(nodes_[node], pod);
    if (options_.weight > 0) {
      score +=
          from_extender.at(nodes_[node].name) * options_.weight * kMaxNodeScore / kMaxExtenderScore;
    }
    if (score > highest) best.clear();
    if (score >= highest) best.push_back(node);
    highest = std::max(highest, score);
  }
  if (rng_.below(1000) < static_cast<uint32_t>(options_.elsewhere * 1000)) best = feasible;
  const size_t node = best[rng_.below(static_cast<uint32_t>(best.size()))];
  nodes_[node].used_gpus += pod.gpus;
  nodes_[node].cores += cores_of(pod);
  nodes_[node].mem_gib += mem_of(pod);
  bound_.push_back({pod, node});
  return static_cast<int>(node);
}

void KubeScheduler::end(size_t bound) {
  const Bound& one = bound_[bound];
  nodes_[one.node].used_gpus -= one.pod.gpus;
  nodes_[one.node].cores -= cores_of(one.pod);
  nodes_[one.node].mem_gib -= mem_of(one.pod);
  bound_.erase(bound_.begin() + static_cast<std::ptrdiff_t>(bound));
}

json KubeScheduler::list() const {
  json items = json::array();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    items.push_back(node_object(i));
    items.back()["kind"] = "Node";
  }
  for (const Bound& one : bound_) {
    items.push_back(pod_object(one.pod));
    items.back()["kind"] = "Pod";
    items.back()["spec"]["nodeName"] = nodes_[one.node].name;
    items.back()["status"]["phase"] = "Running";
  }
  return {{"kind", "List"}, {"apiVersion", "v1"}, {"items", std::move(items)}};
}

}  // namespace yard::testing::kube
