// Reads the nodes of a cluster's YAML file: groups of equal nodes and lists of real machines. Racks
// and pods numbered within a group or list get numbers above those in the file.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/cluster/node_list.h"
#include "env/cluster/parse.h"
#include "env/cluster/yaml.h"

namespace yard {
namespace {

constexpr double kMaxCores = 1e6, kMaxMemGib = 1e6, kMaxOverload = 100;
constexpr double kMaxGbps = 1e6, kMaxLatencyUs = 1e6;
constexpr int64_t kMaxId = 1 << 20, kMaxNics = 64;

using Keys = std::vector<std::string>;
const Keys kAvailability = {"zone", "spot", "cpu_overload"};
const Keys kWires = {"island_gpus",     "island_gbps", "island_latency_us", "node_gbps",
                     "node_latency_us", "nics",        "nic_gbps"};
const Keys kMachine = {"gpus", "type", "cpus", "mem_gib"};
const Keys kPlace = {"rack", "nodes_per_rack", "pod", "racks_per_pod"};

Keys operator+(Keys a, const Keys& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool contains(const Keys& keys, const std::string& key) {
  return std::ranges::find(keys, key) != keys.end();
}

// An entry of `nodes` or of `nodes_from`.
struct Group {
  std::unique_ptr<YamlMap> map;
  std::string format;  // of the list; "": none
  Keys provided_keys;  // fields that the list gives for every node

  bool has(const char* key) const { return map->has(key) || contains(provided_keys, key); }
  bool numbers_racks() const {
    return map->has("nodes_per_rack") || contains(provided_keys, "rack");
  }
  bool numbers_pods() const { return map->has("racks_per_pod") || contains(provided_keys, "pod"); }
};

void read_availability_and_wires(const YamlMap& map, Node& node) {
  node.zone = static_cast<int32_t>(map.integer("zone", node.zone, 0, kMaxId));
  node.spot = map.flag("spot", node.spot);
  node.cpu_overload = map.number("cpu_overload", node.cpu_overload, 1, kMaxOverload);
  node.island_gpus =
      static_cast<int32_t>(map.integer("island_gpus", node.island_gpus, 1, kMaxGpusPerNode));
  node.island_gbps = map.number("island_gbps", node.island_gbps, 0, kMaxGbps);
  node.island_latency_us =
      map.number("island_latency_us", node.island_latency_us, 0, kMaxLatencyUs);
  node.node_gbps = map.number("node_gbps", node.node_gbps, 0, kMaxGbps);
  node.node_latency_us = map.number("node_latency_us", node.node_latency_us, 0, kMaxLatencyUs);
  node.nics = static_cast<int32_t>(map.integer("nics", node.nics, 1, kMaxNics));
  node.nic_gbps = map.number("nic_gbps", node.nic_gbps, 0, kMaxGbps);
}

class NodesReader {
 public:
  NodesReader(const YamlMap& root, ClusterSpec& spec) : root_(root), spec_(spec) {}

  void read() {
    if (!root_.has("nodes") && !root_.has("nodes_from")) {
      root_.fail("nodes", "nodes or nodes_from", "neither");
    }
    if (root_.has("nodes")) open_groups();
    if (root_.has("nodes_from")) open_lists();
    for (const Group& group : groups_) {
      next_rack_ = std::max(next_rack_, group.map->integer("rack", -1, 0, kMaxId) + 1);
      next_pod_ = std::max(next_pod_, group.map->integer("pod", -1, 0, kMaxId) + 1);
    }
    for (const Group& group : groups_) {
      check_place(group);
      group.format.empty() ? read_group(group) : read_list(group);
    }
    if (spec_.total_gpus() == 0) root_.fail("nodes", "at least one GPU", "none");
  }

 private:
  void open_groups() {
    const YAML::Node& list = root_["nodes"];
    if (!list.IsSequence() || list.size() == 0)
      root_.file().fail(list, "nodes as a list of groups");
    for (const auto& item : list) {
      groups_.push_back({std::make_unique<YamlMap>(root_.file(), item, "a group of nodes",
                                                   Keys{"count", "name", "tenant"} + kMachine +
                                                       kPlace + kAvailability + kWires),
                         "",
                         {}});
    }
  }

  void open_lists() {
    const YAML::Node& entry = root_["nodes_from"];
    if (entry.IsMap()) return open_list(entry);
    if (!entry.IsSequence() || entry.size() == 0) {
      root_.file().fail(entry, "nodes_from as a map, or a list of maps");
    }
    for (const auto& item : entry) open_list(item);
  }

  void open_list(const YAML::Node& node) {
    const YamlMap any(root_.file(), node, "a list of nodes");
    const auto names = Registry<NodeListReader>::names();
    if (!any.has("format")) any.fail("format", "the format of the list of nodes", "none");
    const std::string format = names[static_cast<size_t>(any.choice("format", 0, names))];
    const Keys& provided_keys = Registry<NodeListReader>::info(format).provided_keys;
    Keys keys = {"file", "format", "cpu_nodes", "tenant", "by_type"};
    for (const std::string& key : kMachine + kPlace + kAvailability + kWires) {
      if (contains(provided_keys, key)) continue;
      if (key == "nodes_per_rack" && contains(provided_keys, "rack")) continue;
      if (key == "racks_per_pod" && contains(provided_keys, "pod")) continue;
      keys.push_back(key);
    }
    groups_.push_back({std::make_unique<YamlMap>(root_.file(), node, "a list of nodes", keys),
                       format, provided_keys});
  }

  // Either all groups number their racks or all name them; otherwise nodes would share rack 0 by
  // accident. Pods likewise.
  void check_place(const Group& group) const {
    const YamlMap& map = *group.map;
    const auto one_of = [&](const char* one, const char* other) {
      if (map.has(one) && map.has(other)) {
        map.fail(other, std::string("either ") + one + " or " + other, "both");
      }
    };
    one_of("rack", "nodes_per_rack");
    one_of("pod", "racks_per_pod");
    if (map.has("racks_per_pod") && !group.numbers_racks()) {
      map.fail("racks_per_pod", "nodes_per_rack together with racks_per_pod", "none");
    }
    if (std::ranges::any_of(groups_, &Group::numbers_racks) && !group.numbers_racks() &&
        !map.has("rack")) {
      map.fail("rack", "rack or nodes_per_rack, since other nodes have racks", "neither");
    }
    if (std::ranges::any_of(groups_, &Group::numbers_pods) && !group.numbers_pods() &&
        !map.has("pod")) {
      map.fail("pod", "pod or racks_per_pod, since other nodes have pods", "neither");
    }
  }

  Node node_of(const Group& group) {
    const YamlMap& map = *group.map;
    Node node;
    if (!group.has("gpus")) map.fail("gpus", "gpus, the number of GPUs per node", "none");
    node.gpus = static_cast<int32_t>(map.integer("gpus", 0, 0, kMaxGpusPerNode));
    node.cpus = map.number("cpus", 0, 0, kMaxCores);
    node.mem_gib = map.number("mem_gib", 0, 0, kMaxMemGib);
    if (map.has("tenant")) {
      const std::string name = map.text("tenant");
      const auto it = std::ranges::find(spec_.tenants, name, &Tenant::name);
      if (it == spec_.tenants.end()) map.fail("tenant", "a name from tenants", "'" + name + "'");
      node.tenant = static_cast<int32_t>(it - spec_.tenants.begin());
    }
    const bool may_have_gpus = node.gpus > 0 || contains(group.provided_keys, "gpus");
    if (map.has("type") && !may_have_gpus) {
      map.fail("type", "no type on nodes without GPUs", "'" + map.text("type") + "'");
    }
    if (may_have_gpus && !contains(group.provided_keys, "type")) {
      node.type = find_or_add_gpu_type(spec_, map.text("type", kDefaultType));
    }
    read_availability_and_wires(map, node);
    return node;
  }

  void place(const Group& group, int64_t i, const ListedNode& listed, Node& node) {
    const YamlMap& map = *group.map;
    int64_t rack = map.integer("rack", 0, 0, kMaxId);
    int64_t pod = map.integer("pod", 0, 0, kMaxId);
    if (contains(group.provided_keys, "rack")) rack = next_rack_ + listed.rack;
    if (map.has("nodes_per_rack")) {
      rack = next_rack_ + i / map.integer("nodes_per_rack", 1, 1, kMaxNodes);
    }
    if (contains(group.provided_keys, "pod")) pod = next_pod_ + listed.pod;
    if (map.has("racks_per_pod")) {
      pod = next_pod_ + (rack - next_rack_) / map.integer("racks_per_pod", 1, 1, kMaxNodes);
    }
    node.rack = static_cast<int32_t>(rack);
    node.pod = static_cast<int32_t>(pod);
    const int32_t known = pod_of_rack_.try_emplace(node.rack, node.pod).first->second;
    if (known == node.pod) return;
    throw InputError(map.where(map.has("pod") ? "pod" : "rack"),
                     "rack " + std::to_string(rack) + " in one pod",
                     "pods " + std::to_string(known) + " and " + std::to_string(pod));
  }

  // Reserves the numbers used by the nodes from `first` on.
  void close_racks(size_t first) {
    for (size_t m = first; m < spec_.nodes.size(); ++m) {
      next_rack_ = std::max<int64_t>(next_rack_, spec_.nodes[m].rack + 1);
      next_pod_ = std::max<int64_t>(next_pod_, spec_.nodes[m].pod + 1);
    }
  }

  void read_group(const Group& group) {
    const YamlMap& map = *group.map;
    const Node node = node_of(group);
    if (node.island_gpus > node.gpus) {
      map.fail("island_gpus", "islands of at most " + std::to_string(node.gpus) + " GPUs",
               std::to_string(node.island_gpus));
    }
    const std::string kind =
        node.gpus == 0 ? "cpu" : spec_.types[static_cast<size_t>(node.type)].name;
    const size_t first = spec_.nodes.size();
    add_nodes(spec_, map.integer("count", 1, 1, kMaxNodes), node, map.text("name", kind),
              map.where());
    for (size_t m = first; m < spec_.nodes.size(); ++m) {
      place(group, static_cast<int64_t>(m - first), {}, spec_.nodes[m]);
    }
    close_racks(first);
  }

  void read_list(const Group& group) {
    const YamlMap& map = *group.map;
    const Node common = node_of(group);
    const bool keep_cpu_nodes = map.flag("cpu_nodes", true);
    const std::string path = map.path("file");
    const auto listed =
        Registry<NodeListReader>::make(group.format, {})->read(read_decompressed_file(path), path);
    std::set<std::string> names;
    const size_t first = spec_.nodes.size();
    for (const ListedNode& one : listed) {
      if (!names.insert(one.name).second) {
        throw InputError(path, "each node once", "'" + one.name + "' again");
      }
      Node node = common;
      node.name = one.name;
      if (contains(group.provided_keys, "gpus")) node.gpus = one.gpus;
      if (contains(group.provided_keys, "type") && one.gpus > 0)
        node.type = find_or_add_gpu_type(spec_, one.type);
      if (contains(group.provided_keys, "cpus")) node.cpus = one.cpus;
      if (contains(group.provided_keys, "mem_gib")) node.mem_gib = one.mem_gib;
      if (node.gpus == 0 && !keep_cpu_nodes) continue;
      if (spec_.nodes.size() == kMaxNodes) {
        throw InputError(path, "at most " + std::to_string(kMaxNodes) + " nodes in total", "more");
      }
      place(group, static_cast<int64_t>(spec_.nodes.size() - first), one, node);
      spec_.nodes.push_back(node);
    }
    if (map.has("by_type")) read_by_type(YamlMap(map.file(), map["by_type"], "by_type"), first);
    for (size_t m = first; m < spec_.nodes.size(); ++m) {
      spec_.nodes[m].island_gpus = std::min(spec_.nodes[m].island_gpus, spec_.nodes[m].gpus);
    }
    close_racks(first);
  }

  // Overrides for nodes of a list, by GPU type.
  void read_by_type(const YamlMap& by_type, size_t first) {
    for (const std::string& name : by_type.keys()) {
      const YamlMap map(by_type.file(), by_type[name], "nodes of a type", kAvailability + kWires);
      int64_t found = 0;
      for (size_t m = first; m < spec_.nodes.size(); ++m) {
        Node& node = spec_.nodes[m];
        if (node.gpus == 0 || spec_.types[static_cast<size_t>(node.type)].name != name) continue;
        read_availability_and_wires(map, node);
        ++found;
      }
      if (found == 0) by_type.fail(name, "a GPU type in the node list", "'" + name + "'");
    }
  }

  const YamlMap& root_;
  ClusterSpec& spec_;
  std::vector<Group> groups_;
  int64_t next_rack_ = 0, next_pod_ = 0;  // next free numbers
  std::unordered_map<int32_t, int32_t> pod_of_rack_;
};

}  // namespace

void read_nodes(const YamlMap& root, ClusterSpec& spec) { NodesReader(root, spec).read(); }

}  // namespace yard
