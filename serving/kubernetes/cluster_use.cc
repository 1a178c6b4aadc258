#include "serving/kubernetes/cluster_use.h"

#include <algorithm>

#include "env/base/core/error.h"

namespace yard::kubernetes {

ClusterUse use_of(const pb::DecideRequest& snapshot) {
  ClusterUse out;
  for (const pb::Node& node : snapshot.nodes()) {
    const auto gpus = static_cast<int32_t>(std::min<uint32_t>(node.gpus(), kMaxQuantity));
    const int32_t down = std::min(node.down_size(), gpus);
    out.nodes[node.name()] = {gpus - down, node.vacating_size()};
  }
  for (const pb::Job& job : snapshot.jobs()) {
    if (job.placement().empty() || job.state() == pb::WAITING) continue;
    ClusterUse::Holder holder;
    for (const pb::Piece& piece : job.placement()) {
      const auto at = out.nodes.find(piece.node());
      const auto gpus = static_cast<int32_t>(std::min<uint32_t>(piece.gpus(), kMaxQuantity));
      if (at == out.nodes.end()) continue;
      at->second.used += gpus;
      holder.gpus += gpus;
      holder.node = piece.node();
    }
    if (job.has_priority()) holder.priority = static_cast<int32_t>(job.priority());
    holder.group = job.array();
    out.holders[job.id()] = std::move(holder);
  }
  return out;
}

ClusterUse use_of(const Json& list) {
  const Json* items = field(list, "items");
  if (items == nullptr || !items->is_array()) {
    throw InputError("items", "a list of nodes and pods", "none");
  }
  ClusterUse out;
  std::vector<PodRequest> pods;
  for (size_t i = 0; i < items->size(); ++i) {
    const std::string where = "items[" + std::to_string(i) + "]";
    const std::string kind = text_field((*items)[i], "kind");
    if (kind == "Node") {
      const NodeGpuCount node = read_node((*items)[i], where);
      out.nodes[node.name] = {node.gpus.value_or(0), 0};
    } else if (kind == "Pod") {
      pods.push_back(read_pod((*items)[i], where));
    } else {
      throw InputError(where + ".kind", "Node or Pod", kind.empty() ? "none" : kind);
    }
  }
  for (const PodRequest& pod : pods) {
    const auto at = out.nodes.find(pod.node);
    if (pod.has_ended || pod.gpus == 0 || at == out.nodes.end()) continue;
    at->second.used += pod.gpus;
    out.holders[pod.id] = {pod.node, pod.gpus, pod.priority, pod.group ? pod.group->name : ""};
  }
  return out;
}

}  // namespace yard::kubernetes
