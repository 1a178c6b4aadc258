// Ready-made clusters: cluster files that are referred to by name. The name NAME stands for the
// first file NAME.yaml in these folders:
// - $YARD_CLUSTERS: clusters of the user;
// - experiments/clusters or share/yardmaster/clusters in the folder of the program (or of the
// library that it has loaded), or in any folder above it;
// - experiments/clusters in the working directory.
#pragma once

#include <string>
#include <vector>

namespace yard {

struct PredefinedCluster {
  std::string name, path, about;
};

std::vector<PredefinedCluster> predefined_clusters();  // sorted by name; reads each file's `about`
std::vector<std::string> predefined_cluster_names();

// Returns the GPU types that the ready-made clusters describe, sorted.
std::vector<std::string> predefined_gpu_types();

// Returns the path of the cluster file of a ready-made cluster, or "" if there is none.
std::string find_predefined_cluster_path(const std::string& name);

}  // namespace yard
