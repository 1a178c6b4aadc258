// The steps by which load_cluster() reads a cluster.
#pragma once

#include <string>
#include <vector>

#include "env/cluster/spec.h"

namespace yard {

class YamlMap;

inline constexpr const char* kDefaultType = "gpu";

// Returns whether `text` is shorthand for a cluster: digits, then an 'x', as in "8x8".
bool is_cluster_shorthand(const std::string& text);

ClusterSpec from_yaml(const std::string& path);
// Returns the value of `about` in a cluster file without reading the rest of the file.
std::string read_cluster_description(const std::string& path);

// Returns the names of the GPU types in the map `gpu_types` of a cluster file.
std::vector<std::string> gpu_type_names_in_yaml(const std::string& path);

// Fills spec.nodes, and the GPU types of these nodes, from the keys `nodes` and `nodes_from` of a
// file. Requires: the names in spec.tenants are set.
void read_nodes(const YamlMap& root, ClusterSpec& spec);

// Returns the index of the GPU type `name`, which is added with speed 1 if it is missing.
int32_t find_or_add_gpu_type(ClusterSpec& spec, const std::string& name);

// Adds `count` copies of `node`, each named `prefix` plus its index in the cluster. Throws
// InputError citing `where` if the count is not positive or is too large.
void add_nodes(ClusterSpec& spec, int64_t count, Node node, const std::string& prefix,
               const std::string& where);

}  // namespace yard
