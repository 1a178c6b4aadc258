// Steps of load_cluster().
#pragma once

#include <string>
#include <vector>

#include "env/cluster/spec.h"

namespace yard {

class YamlMap;

inline constexpr const char* kDefaultType = "gpu";

// Returns whether the text is shorthand: digits, then an 'x'. A file named so is "./8x8".
bool is_cluster_shorthand(const std::string& text);

ClusterSpec from_yaml(const std::string& path);
// Returns `about` of the file without reading the rest.
std::string read_cluster_about(const std::string& path);

// Returns the type names in its `gpu_types`.
std::vector<std::string> gpu_type_names_in_yaml(const std::string& path);

// Fills spec.nodes and the types they use from the file's `nodes` and `nodes_from`. Requires: the
// names in spec.tenants are set.
void read_nodes(const YamlMap& root, ClusterSpec& spec);

// Returns the index of the type of that name; adds it with speed 1 if it is missing.
int32_t find_or_add_gpu_type(ClusterSpec& spec, const std::string& name);

// Adds `count` copies of `node`, named `prefix` plus their index in the cluster. Throws InputError
// citing `where` if the count is not positive or too large.
void add_nodes(ClusterSpec& spec, int64_t count, Node node, const std::string& prefix,
               const std::string& where);

}  // namespace yard
