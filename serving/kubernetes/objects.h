// Reads what the scheduler extender needs of Kubernetes API objects in JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace yard::kubernetes {

using Json = nlohmann::json;

// A larger number of GPUs in one quantity is refused.
inline constexpr int32_t kMaxQuantity = 1'000'000;
// A larger number of pods in one group counts as an unknown size.
inline constexpr int32_t kMaxGroupSize = 10'000;

// Parses the body of a request. Throws InputError if it is no JSON, or nested too deeply.
Json parse_body(const std::string& body);

// Returns the member of an object with exactly that name. A null pointer means that the object has
// no such member, or that the member is the JSON null, which Go sends for an absent value.
const Json* field(const Json& object, std::string_view name);

// Returns the member of an object whose name differs at most in the case of letters, as Go reads
// JSON: some releases of Kubernetes write "NodeNames", others "nodenames".
const Json* field_in_any_case(const Json& object, std::string_view name);

// Returns the member if it is a text, else "".
std::string text_field(const Json& object, std::string_view name);

// Returns a whole quantity such as 2, "2", "2k" or "2000m". Throws InputError, which names `where`,
// for a fraction, a negative number and any other text.
int32_t whole_quantity(const Json& quantity, const std::string& where);

// Pods which are only useful together.
struct PodGroup {
  std::string name;  // NAMESPACE/NAME
  int32_t size = 0;  // number of pods in the group; 0: unknown
};

struct PodRequest {
  std::string id;    // UID of the pod; NAMESPACE/NAME if the pod has no UID
  std::string name;  // NAMESPACE/NAME
  std::string node;  // node to which the pod is bound; empty: none
  int32_t gpus = 0;
  int32_t priority = 0;
  // The pod selects nodes by more than resources: a node that it cannot use may still have GPUs.
  bool selects_nodes = false;
  bool has_ended = false;  // the pod has released its GPUs
  std::optional<PodGroup> group = {};
};

// Reads a v1.Pod. Its GPUs are counted as by Kubernetes: the sum over containers and sidecars, or
// what one init container needs, if that is more. Throws InputError.
PodRequest read_pod(const Json& pod, const std::string& where);

struct NodeGpuCount {
  std::string name;
  std::optional<int32_t> gpus;  // allocatable GPUs; absent: the object does not say
};

// Reads a v1.Node. Throws InputError.
NodeGpuCount read_node(const Json& node, const std::string& where);

}  // namespace yard::kubernetes
