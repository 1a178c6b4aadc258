// Ready-made clusters: specs that are named, not pathed. They are the YAML files of the folders
//   $YARD_CLUSTERS                                     your own
//   experiments/clusters or share/yardmaster/clusters  in the folder of the program, or of the
//                                                      library that it has loaded, or any above
//   experiments/clusters                               seen from the working directory
// The first of them with a file NAME.yaml says what NAME is.
#pragma once

#include <string>
#include <vector>

namespace yard {

struct ReadyCluster {
  std::string name, path, about;
};

std::vector<ReadyCluster> ready_clusters();  // by name; reads what each says of itself
std::vector<std::string> ready_cluster_names();

// The GPU types that any of them describes, sorted.
std::vector<std::string> ready_gpu_types();

// Returns the path of the spec of that name, "" where there is none.
std::string find_ready_cluster(const std::string& name);

}  // namespace yard
