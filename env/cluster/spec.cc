#include "env/cluster/spec.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "env/base/error.h"
#include "env/base/file.h"
#include "env/base/text.h"

namespace yard {
namespace {

constexpr const char* kDefaultType = "gpu";
constexpr std::string_view kShorthand =
    "NODESxGPUS[:TYPE], such parts joined by '+', or a YAML file";

int32_t type_index(ClusterSpec& spec, const std::string& name) {
  const auto same = [&](const GpuType& type) { return type.name == name; };
  const auto it = std::find_if(spec.types.begin(), spec.types.end(), same);
  if (it != spec.types.end()) return static_cast<int32_t>(it - spec.types.begin());
  spec.types.push_back({.name = name});
  return static_cast<int32_t>(spec.types.size()) - 1;
}

// Throws InputError unless lowest <= value <= highest.
void check_range(int64_t value, int64_t lowest, int64_t highest, const std::string& where,
                 const std::string& what) {
  if (value >= lowest && value <= highest) return;
  throw InputError(where, std::to_string(lowest) + " to " + std::to_string(highest) + " " + what,
                   std::to_string(value));
}

void add_nodes(ClusterSpec& spec, int64_t count, Node node, const std::string& prefix,
               const std::string& where) {
  check_range(count, 1, kMaxNodes, where, "nodes");
  check_range(node.gpus, 1, kMaxGpusPerNode, where, "GPUs a node");
  check_range(static_cast<int64_t>(spec.nodes.size()) + count, 1, kMaxNodes, where, "nodes in all");
  for (int64_t i = 0; i < count; ++i) {
    node.name = prefix + std::to_string(spec.nodes.size());
    spec.nodes.push_back(node);
  }
}

// Whether the text is meant as shorthand: digits, then an 'x'. A file of such a name is "./8x8".
bool is_shorthand(std::string_view text) {
  const size_t digits = text.find_first_not_of("0123456789");
  return digits > 0 && digits != std::string_view::npos && text[digits] == 'x';
}

ClusterSpec from_shorthand(const std::string& text) {
  const std::string where = "cluster '" + text + "'";
  ClusterSpec spec;
  spec.text = text;
  for (const std::string_view part : split(text, '+')) {
    const size_t times = part.find('x');
    const size_t colon = part.find(':');
    std::optional<int64_t> count, gpus;
    if (times != std::string_view::npos && times < colon) {
      count = parse_int(part.substr(0, times));
      gpus = parse_int(part.substr(
          times + 1, colon == std::string_view::npos ? std::string_view::npos : colon - times - 1));
    }
    const std::string type(colon == std::string_view::npos ? kDefaultType : part.substr(colon + 1));
    if (!count || !gpus || type.empty()) {
      throw InputError(where, std::string(kShorthand), "'" + std::string(part) + "'");
    }
    check_range(*gpus, 1, kMaxGpusPerNode, where, "GPUs a node");
    Node node;
    node.gpus = static_cast<int32_t>(*gpus);
    node.type = type_index(spec, type);
    add_nodes(spec, *count, node, type, where);
  }
  return spec;
}

// A YAML file, with positions for messages.
class File {
 public:
  explicit File(std::string path) : path_(std::move(path)) {}

  std::string where(const YAML::Mark& mark) const {
    return mark.is_null() ? path_ : path_ + ":" + std::to_string(mark.line + 1);
  }
  std::string where(const YAML::Node& node) const { return where(node.Mark()); }

  // Throws InputError unless `node` is a map with none but these keys, each once.
  void check_keys(const YAML::Node& node, const std::vector<std::string>& known) const {
    if (!node.IsMap()) throw InputError(where(node), "a map with " + join(known), said(node));
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        throw InputError(where(entry.first), "one of the keys " + join(known), said(entry.first));
      }
      once(entry.first, seen);
    }
  }

  void once(const YAML::Node& key, std::set<std::string>& seen) const {
    if (!seen.insert(key.Scalar()).second) {
      throw InputError(where(key), "every key once", said(key) + " again");
    }
  }

  int64_t integer(const YAML::Node& node, const std::string& what, int64_t lowest,
                  int64_t highest) const {
    const auto value = node.IsScalar() ? parse_int(node.Scalar()) : std::nullopt;
    if (!value || *value < lowest || *value > highest) {
      throw InputError(where(node),
                       what + " as a whole number from " + std::to_string(lowest) + " to " +
                           std::to_string(highest),
                       said(node));
    }
    return *value;
  }

  double number(const YAML::Node& node, const std::string& what, double lowest,
                double highest) const {
    const auto value = node.IsScalar() ? parse_double(node.Scalar()) : std::nullopt;
    if (!value || *value < lowest || *value > highest) {
      throw InputError(where(node),
                       what + " as a number from " + shortest(lowest) + " to " + shortest(highest),
                       said(node));
    }
    return *value;
  }

  std::string name(const YAML::Node& node, const std::string& what) const {
    if (!node.IsScalar() || node.Scalar().empty()) throw InputError(where(node), what, said(node));
    return node.Scalar();
  }

  static std::string said(const YAML::Node& node) {
    if (node.IsScalar()) return "'" + node.Scalar() + "'";
    return node.IsMap() ? "a map" : node.IsSequence() ? "a list" : "nothing";
  }

 private:
  std::string path_;
};

// Slower or faster than the trace's own GPUs by more than this is a slip of the pen; memory
// likewise.
constexpr double kMinSpeed = 1e-3, kMaxSpeed = 1e3, kMaxMemGib = 1e6;
constexpr int64_t kMaxCount = 1 << 20;

void read_types(const File& file, const YAML::Node& types, ClusterSpec& spec) {
  if (!types.IsMap()) {
    throw InputError(file.where(types), "gpu_types as a map of names", File::said(types));
  }
  std::set<std::string> seen;
  for (const auto& entry : types) {
    const std::string name = file.name(entry.first, "the name of a GPU type");
    file.once(entry.first, seen);
    file.check_keys(entry.second, {"speed", "mem_gib"});
    GpuType& type = spec.types[type_index(spec, name)];
    if (const YAML::Node speed = entry.second["speed"]) {
      type.speed = file.number(speed, "speed", kMinSpeed, kMaxSpeed);
    }
    if (const YAML::Node mem = entry.second["mem_gib"]) {
      type.mem_gib = file.number(mem, "mem_gib", 0, kMaxMemGib);
    }
  }
}

void read_group(const File& file, const YAML::Node& group, ClusterSpec& spec) {
  file.check_keys(group, {"count", "gpus", "type", "cpus", "mem_gib", "rack", "name"});
  const auto integer = [&](const char* key, int64_t otherwise, int64_t lowest, int64_t highest) {
    const YAML::Node node = group[key];
    return node ? file.integer(node, key, lowest, highest) : otherwise;
  };
  if (!group["gpus"]) throw InputError(file.where(group), "gpus of the nodes", "a group without");
  const std::string type =
      group["type"] ? file.name(group["type"], "the name of a GPU type") : kDefaultType;
  Node node;
  node.gpus = static_cast<int32_t>(integer("gpus", 0, 1, kMaxGpusPerNode));
  node.type = type_index(spec, type);
  node.cpus = static_cast<int32_t>(integer("cpus", 0, 0, kMaxCount));
  node.rack = static_cast<int32_t>(integer("rack", 0, 0, kMaxCount));
  if (const YAML::Node mem = group["mem_gib"]) {
    node.mem_gib = file.number(mem, "mem_gib", 0, kMaxMemGib);
  }
  const std::string prefix = group["name"] ? file.name(group["name"], "a name") : type;
  add_nodes(spec, integer("count", 1, 1, kMaxNodes), node, prefix, file.where(group));
}

ClusterSpec from_yaml(const std::string& path) {
  const File file(path);
  ClusterSpec spec;
  spec.text = path;
  try {
    const YAML::Node root = YAML::Load(read_file(path));
    file.check_keys(root, {"gpu_types", "nodes"});
    if (const YAML::Node types = root["gpu_types"]) read_types(file, types, spec);
    const YAML::Node nodes = root["nodes"];
    if (!nodes || !nodes.IsSequence() || nodes.size() == 0) {
      throw InputError(file.where(nodes ? nodes : root), "nodes as a list of groups",
                       nodes ? File::said(nodes) : "none");
    }
    for (const auto& group : nodes) read_group(file, group, spec);
  } catch (const YAML::Exception& error) {
    throw InputError(file.where(error.mark), "a cluster in YAML", error.msg);
  }
  return spec;
}

}  // namespace

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

ClusterSpec load_cluster(const std::string& text) {
  if (is_shorthand(text)) return from_shorthand(text);
  if (!std::filesystem::exists(text)) {
    throw InputError("cluster", std::string(kShorthand), "'" + text + "', which is neither");
  }
  return from_yaml(text);
}

}  // namespace yard
