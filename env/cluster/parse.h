// The ways in which a cluster is said, each in a file of its own: what load_cluster() chooses from.
#pragma once

#include <string>
#include <vector>

#include "env/cluster/spec.h"

namespace yard {

class YamlMap;

inline constexpr const char* kDefaultType = "gpu";

// Whether the text is meant as shorthand: digits, then an 'x'. A file of such a name is "./8x8".
bool is_shorthand(const std::string& text);
ClusterSpec from_shorthand(const std::string& text);

ClusterSpec from_yaml(const std::string& path);
// Returns `about` of such a file and reads nothing else of it.
std::string about_of_yaml(const std::string& path);

// Returns the names below its `gpu_types`.
std::vector<std::string> types_of_yaml(const std::string& path);

// Fills spec.nodes, and the types that they name, from `nodes` and `nodes_from` of a file.
// Requires: spec.tenants have their names.
void read_nodes(const YamlMap& root, ClusterSpec& spec);

// Returns the index of the type of that name, made with speed 1 where there is none yet.
int32_t type_index(ClusterSpec& spec, const std::string& name);

// Adds `count` nodes like `node`, named by `prefix` and their index in the cluster. Throws
// InputError, saying `where`, when they are none or too many.
void add_nodes(ClusterSpec& spec, int64_t count, Node node, const std::string& prefix,
               const std::string& where);

}  // namespace yard
