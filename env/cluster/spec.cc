#include "env/cluster/spec.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

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

int32_t Node::num_islands() const {
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

int32_t find_or_add_gpu_type(ClusterSpec& spec, const std::string& name) {
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

bool is_cluster_shorthand(const std::string& text) {
  const size_t digits = text.find_first_not_of("0123456789");
  return digits > 0 && digits != std::string::npos && text[digits] == 'x';
}

namespace {

ClusterSpec from_shorthand(const std::string& text) {
  const std::string where = "cluster '" + text + "'";
  ClusterSpec spec;
  spec.text = text;
  for (const std::string_view part : split(text, '+')) {
    const size_t times = part.find('x');
    const size_t colon = std::min(part.find(':'), part.size());
    std::optional<int64_t> count, gpus;
    if (times < colon) {
      count = parse_int(part.substr(0, times));
      gpus = parse_int(part.substr(times + 1, colon - times - 1));
    }
    const std::string type(colon == part.size() ? kDefaultType : part.substr(colon + 1));
    if (!count || !gpus || type.empty()) {
      throw InputError(where, "NODESxGPUS[:TYPE], or several of these joined by '+'",
                       "'" + std::string(part) + "'");
    }
    if (*gpus < 1 || *gpus > kMaxGpusPerNode) {
      throw InputError(where, "1 to " + std::to_string(kMaxGpusPerNode) + " GPUs per node",
                       std::to_string(*gpus));
    }
    Node node;
    node.gpus = static_cast<int32_t>(*gpus);
    node.type = find_or_add_gpu_type(spec, type);
    add_nodes(spec, *count, node, type, where);
  }
  return spec;
}

bool alike(const Node& a, const Node& b) {
  return a.gpus == b.gpus && a.type == b.type && a.cpus == b.cpus && a.mem_gib == b.mem_gib;
}

ClusterSpec from_name_or_path(const std::string& text) {
  std::string path = find_predefined_cluster_path(text);
  if (path.empty() && std::filesystem::exists(text)) path = text;
  if (path.empty()) {
    const auto ready = predefined_cluster_names();
    const bool is_file = text.find('/') != text.npos || text.ends_with(".yaml");
    throw InputError(
        "cluster",
        "NODESxGPUS[:TYPE], several of these joined by '+', a YAML file, or " +
            (ready.empty() ? "a ready-made spec (none found; YARD_CLUSTERS sets their folder)"
                           : "one of: " + join(ready)),
        "'" + text + "'" + (is_file ? ", a missing file" : did_you_mean(text, ready)));
  }
  ClusterSpec spec = from_yaml(path);
  spec.text = text;
  return spec;
}

}  // namespace

ClusterSpec load_cluster(const std::string& text) {
  ClusterSpec spec = is_cluster_shorthand(text) ? from_shorthand(text) : from_name_or_path(text);
  if (spec.types.size() > kMaxTypes) {
    throw InputError("cluster '" + text + "'",
                     "at most " + std::to_string(kMaxTypes) + " GPU types",
                     std::to_string(spec.types.size()));
  }
  return spec;
}

ClusterSpec scale_node_counts(ClusterSpec cluster, double scale) {
  if (scale == 1) return cluster;
  if (!cluster.tenants.empty()) {
    throw InputError("cluster '" + cluster.text + "'",
                     "no tenants if the number of nodes is scaled",
                     std::to_string(cluster.tenants.size()));
  }
  const std::vector<Node> all = std::move(cluster.nodes);
  cluster.nodes.clear();
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    end = begin + 1;
    while (end < all.size() && alike(all[begin], all[end])) ++end;
    const auto count = static_cast<double>(end - begin);
    const auto wanted = static_cast<size_t>(std::max(1.0, std::round(count * scale)));
    if (cluster.nodes.size() + wanted > static_cast<size_t>(kMaxNodes)) {
      throw InputError("cluster '" + cluster.text + "'",
                       "at most " + std::to_string(kMaxNodes) + " nodes",
                       "more after scaling by " + shortest_text(scale));
    }
    for (size_t i = 0; i < wanted; ++i) {
      cluster.nodes.push_back(all[begin + i % (end - begin)]);
      const size_t round = i / (end - begin);
      if (round > 0) cluster.nodes.back().name += "." + std::to_string(round);
    }
  }
  cluster.text += " x " + shortest_text(scale);
  return cluster;
}

}  // namespace yard
