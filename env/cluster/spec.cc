#include "env/cluster/spec.h"

#include <algorithm>
#include <filesystem>

#include "env/base/core/error.h"
#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"
#include "env/cluster/parse.h"
#include "env/cluster/ready.h"

namespace yard {

double GpuType::speed_on(std::string_view model) const {
  const auto it = speed_of_model.find(std::string(model));
  return it == speed_of_model.end() ? speed : it->second;
}

int32_t Node::islands() const {
  return island_gpus == 0 ? std::min(gpus, 1) : (gpus + island_gpus - 1) / island_gpus;
}

int ClusterSpec::total_gpus() const {
  int total = 0;
  for (const Node& node : nodes) total += node.gpus;
  return total;
}

int ClusterSpec::max_gpus_per_node() const {
  int most = 0;
  for (const Node& node : nodes) most = std::max(most, node.gpus);
  return most;
}

int32_t type_index(ClusterSpec& spec, const std::string& name) {
  const auto it = std::ranges::find(spec.types, name, &GpuType::name);
  if (it != spec.types.end()) return static_cast<int32_t>(it - spec.types.begin());
  spec.types.push_back({.name = name});
  return static_cast<int32_t>(spec.types.size()) - 1;
}

void add_nodes(ClusterSpec& spec, int64_t count, Node node, const std::string& prefix,
               const std::string& where) {
  const auto check = [&](int64_t nodes, const char* what) {
    if (nodes >= 1 && nodes <= kMaxNodes) return;
    throw InputError(where, "1 to " + std::to_string(kMaxNodes) + what, std::to_string(nodes));
  };
  check(count, " nodes");
  check(static_cast<int64_t>(spec.nodes.size()) + count, " nodes in total");
  for (int64_t i = 0; i < count; ++i) {
    node.name = prefix + std::to_string(spec.nodes.size());
    spec.nodes.push_back(node);
  }
}

namespace {

ClusterSpec from_name_or_path(const std::string& text) {
  std::string path = find_ready_cluster(text);
  if (path.empty() && std::filesystem::exists(text)) path = text;
  if (path.empty()) {
    const auto ready = ready_cluster_names();
    throw InputError(
        "cluster",
        "NODESxGPUS[:TYPE], several of these joined by '+', a YAML file, or " +
            (ready.empty() ? "a ready-made spec (none found; YARD_CLUSTERS sets their folder)"
                           : "one of: " + join(ready)),
        "'" + text + "'" + did_you_mean(text, ready));
  }
  ClusterSpec spec = from_yaml(path);
  spec.text = text;
  return spec;
}

}  // namespace

ClusterSpec load_cluster(const std::string& text) {
  ClusterSpec spec = is_shorthand(text) ? from_shorthand(text) : from_name_or_path(text);
  if (spec.types.size() > kMaxTypes) {
    throw InputError("cluster '" + text + "'",
                     "at most " + std::to_string(kMaxTypes) + " GPU types",
                     std::to_string(spec.types.size()));
  }
  return spec;
}

}  // namespace yard
