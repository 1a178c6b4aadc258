#include "serving/kubernetes/objects.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "serving/snapshot/snapshot.h"

namespace yard::kubernetes {
namespace {

constexpr int kMaxDepth = 100;  // of brackets; API objects have about 15

// Labels or annotations which name a pod's group: our own, the Coscheduling plugin's old and new
// ones, JobSet's and Volcano's.
constexpr std::array kGroupNames = {
    "yardmaster.io/group",
    "scheduling.x-k8s.io/pod-group",
    "pod-group.scheduling.sigs.k8s.io/name",
    "pod-group.scheduling.sigs.k8s.io",
    "jobset.sigs.k8s.io/jobset-name",
    "scheduling.k8s.io/group-name",
};
constexpr std::array kGroupSizes = {
    "yardmaster.io/group-size",
    "pod-group.scheduling.sigs.k8s.io/min-available",
};

constexpr std::array<std::pair<std::string_view, double>, 14> kSuffixes = {{
    {"m", 1e-3},
    {"k", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"E", 1e18},
    {"Ki", 0x1p10},
    {"Mi", 0x1p20},
    {"Gi", 0x1p30},
    {"Ti", 0x1p40},
    {"Pi", 0x1p50},
    {"Ei", 0x1p60},
    {"", 1},
}};

std::optional<double> parse_quantity(std::string_view text) {
  if (const auto number = parse_double(text)) return number;
  for (const auto& [suffix, factor] : kSuffixes) {
    if (suffix.empty() || !text.ends_with(suffix)) continue;
    const auto number = parse_double(text.substr(0, text.size() - suffix.size()));
    if (number) return *number * factor;
  }
  return {};
}

bool same_in_any_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Whether the text has brackets nested beyond the bound: the writer of JSON is recursive.
bool is_nested_too_deeply(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if ((c == '{' || c == '[') && ++depth > kMaxDepth) return true;
    if (c == '}' || c == ']') --depth;
  }
  return false;
}

const Json& object_at(const Json& value, const std::string& where) {
  if (value.is_object()) return value;
  throw InputError(where, "an object", std::string(value.type_name()));
}

// The names of GPUs as a resource: nvidia.com/gpu, amd.com/gpu, ...
bool is_gpu(std::string_view resource) { return resource.ends_with("/gpu"); }

int32_t gpus_of(const Json& resources, const std::string& where) {
  int64_t sum = 0;
  for (const auto& [name, quantity] : resources.items()) {
    if (is_gpu(name)) sum += whole_quantity(quantity, where + "." + name);
  }
  return static_cast<int32_t>(std::min<int64_t>(sum, kMaxQuantity));
}

int32_t gpus_of_container(const Json& container, const std::string& where) {
  const Json* resources = field(object_at(container, where), "resources");
  if (resources == nullptr) return 0;
  int32_t most = 0;
  // Extended resources are requested as they are limited; the API server adds the one not given.
  for (const char* kind : {"requests", "limits"}) {
    const Json* amounts = field(*resources, kind);
    if (amounts == nullptr) continue;
    const std::string place = where + ".resources." + kind;
    most = std::max(most, gpus_of(object_at(*amounts, place), place));
  }
  return most;
}

const Json& list_in(const Json& spec, const char* name, const std::string& where) {
  static const Json none = Json::array();
  const Json* list = field(spec, name);
  if (list == nullptr) return none;
  if (!list->is_array()) throw InputError(where + "." + name, "a list", list->type_name());
  return *list;
}

std::string item(const std::string& where, const char* list, size_t index) {
  return where + "." + list + "[" + std::to_string(index) + "]";
}

int32_t gpus_of_pod(const Json& spec, const std::string& where) {
  // Init containers run one after the other, sidecars from their turn to the end.
  int64_t sidecars = 0, starting = 0, running = 0;
  const Json& inits = list_in(spec, "initContainers", where);
  for (size_t i = 0; i < inits.size(); ++i) {
    const int32_t gpus = gpus_of_container(inits[i], item(where, "initContainers", i));
    const bool is_sidecar = text_field(inits[i], "restartPolicy") == "Always";
    if (is_sidecar) sidecars += gpus;
    starting = std::max(starting, sidecars + (is_sidecar ? 0 : gpus));
  }
  const Json& containers = list_in(spec, "containers", where);
  for (size_t i = 0; i < containers.size(); ++i) {
    running += gpus_of_container(containers[i], item(where, "containers", i));
  }
  const int64_t most = std::max(starting, sidecars + running);
  if (most > kMaxQuantity) {
    throw InputError(where, "at most " + std::to_string(kMaxQuantity) + " GPUs",
                     std::to_string(most));
  }
  return static_cast<int32_t>(most);
}

bool has_entries(const Json& spec, const char* name) {
  const Json* value = field(spec, name);
  return value != nullptr && !value->empty();
}

// Returns a label, else an annotation, of that name; "" without either.
std::string marking(const Json& metadata, const char* name) {
  for (const char* kind : {"labels", "annotations"}) {
    const Json* all = field(metadata, kind);
    std::string text = all == nullptr ? "" : text_field(*all, name);
    if (!text.empty()) return text;
  }
  return "";
}

std::optional<PodGroup> group_of(const Json& metadata) {
  std::string name;
  for (const char* one : kGroupNames) {
    if (name.empty()) name = marking(metadata, one);
  }
  if (name.empty()) return {};
  PodGroup out{text_field(metadata, "namespace") + "/" + name};
  for (const char* one : kGroupSizes) {
    const auto size = parse_number<int32_t>(marking(metadata, one));
    if (out.size == 0 && size && *size > 0 && *size <= kMaxGroupSize) out.size = *size;
  }
  return out;
}

const Json& metadata_of(const Json& object, const std::string& where) {
  static const Json none = Json::object();
  const Json* metadata = field(object_at(object, where), "metadata");
  return metadata == nullptr ? none : object_at(*metadata, where + ".metadata");
}

}  // namespace

Json parse_body(const std::string& body) {
  if (is_nested_too_deeply(body)) {
    throw InputError("body", "at most " + std::to_string(kMaxDepth) + " levels of brackets",
                     "more");
  }
  try {
    return Json::parse(body);
  } catch (const Json::parse_error& error) {
    throw InputError("body", "JSON", "something else at byte " + std::to_string(error.byte));
  }
}

const Json* field(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(name);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

const Json* field_in_any_case(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  if (const Json* exact = field(object, name)) return exact;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_null() && same_in_any_case(key, name)) return &value;
  }
  return nullptr;
}

std::string text_field(const Json& object, std::string_view name) {
  const Json* value = field(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

int32_t whole_quantity(const Json& quantity, const std::string& where) {
  std::optional<double> number;
  if (quantity.is_number()) number = quantity.get<double>();
  if (quantity.is_string()) number = parse_quantity(quantity.get_ref<const std::string&>());
  if (number && *number >= 0 && *number <= kMaxQuantity && *number == std::round(*number)) {
    return static_cast<int32_t>(*number);
  }
  throw InputError(where, "a whole quantity from 0 to " + std::to_string(kMaxQuantity),
                   quantity.is_primitive() ? quantity.dump() : quantity.type_name());
}

PodRequest read_pod(const Json& pod, const std::string& where) {
  static const Json none = Json::object();
  const Json& metadata = metadata_of(pod, where);
  const Json* const given = field(pod, "spec");
  const Json& spec = given == nullptr ? none : object_at(*given, where + ".spec");
  PodRequest out;
  out.name = text_field(metadata, "namespace") + "/" + text_field(metadata, "name");
  out.id = text_field(metadata, "uid");
  if (out.id.empty() && out.name != "/") out.id = out.name;
  if (std::max(out.id.size(), out.name.size()) > kMaxIdBytes) {
    throw InputError(where + ".metadata", "a name of at most 1024 bytes", "a longer one");
  }
  out.node = text_field(spec, "nodeName");
  out.gpus = gpus_of_pod(spec, where + ".spec");
  const Json* priority = field(spec, "priority");
  if (priority != nullptr && priority->is_number_integer()) out.priority = priority->get<int32_t>();
  out.selects_nodes = has_entries(spec, "nodeSelector") || has_entries(spec, "affinity") ||
                      has_entries(spec, "topologySpreadConstraints");
  const Json* status = field(pod, "status");
  const std::string phase = status == nullptr ? "" : text_field(*status, "phase");
  out.has_ended = phase == "Succeeded" || phase == "Failed";
  out.group = group_of(metadata);
  if (out.group && out.group->name.size() > kMaxIdBytes) out.group.reset();
  return out;
}

NodeGpuCount read_node(const Json& node, const std::string& where) {
  NodeGpuCount out{text_field(metadata_of(node, where), "name"), {}};
  if (out.name.empty() || out.name.size() > kMaxIdBytes) {
    throw InputError(where + ".metadata.name", "a name of 1 to 1024 bytes",
                     std::to_string(out.name.size()) + " bytes");
  }
  const Json* status = field(node, "status");
  const Json* amounts = status == nullptr ? nullptr : field(*status, "allocatable");
  if (amounts == nullptr && status != nullptr) amounts = field(*status, "capacity");
  if (amounts == nullptr) return out;
  const std::string place = where + ".status.allocatable";
  out.gpus = gpus_of(object_at(*amounts, place), place);
  return out;
}

}  // namespace yard::kubernetes
