// Ready-made clusters: specs referred to by name. NAME is the first file NAME.yaml in these
// folders:
//   $YARD_CLUSTERS                                     the user's own
//   experiments/clusters or share/yardmaster/clusters  in the folder of the program (or of the
//                                                      library that it has loaded) or any above
//   experiments/clusters                               relative to the working directory
#pragma once

#include <string>
#include <vector>

namespace yard {

struct PredefinedCluster {
  std::string name, path, about;
};

std::vector<PredefinedCluster> predefined_clusters();  // by name; reads each file's `about`
std::vector<std::string> predefined_cluster_names();

// Returns the GPU types described by any of them, sorted.
std::vector<std::string> predefined_gpu_types();

// Returns the path of the spec of that name, "" if there is none.
std::string find_predefined_cluster(const std::string& name);

}  // namespace yard
