#include "env/cluster/ready.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "env/base/core/error.h"
#include "env/cluster/parse.h"

namespace yard {
namespace {

namespace fs = std::filesystem;

// Returns the folder of the file that holds this code: the program, or a library loaded by another
// program.
fs::path own_folder() {
  Dl_info info{};
  static const char here = 0;
  if (dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  return fs::absolute(info.dli_fname, error).parent_path();
}

std::vector<fs::path> folders() {
  std::vector<fs::path> out;
  if (const char* own = std::getenv("YARD_CLUSTERS"); own != nullptr && *own != 0) {
    if (!fs::is_directory(own)) throw InputError("YARD_CLUSTERS", "a folder of cluster specs", own);
    out.emplace_back(own);
  }
  std::error_code error;
  for (fs::path at : {fs::read_symlink("/proc/self/exe", error).parent_path(), own_folder()}) {
    for (; at.has_relative_path(); at = at.parent_path()) {
      out.push_back(at / "experiments/clusters");
      out.push_back(at / "share/yardmaster/clusters");
    }
  }
  out.emplace_back("experiments/clusters");
  return out;
}

// Returns paths by name; the first folder that has a name wins.
std::map<std::string, std::string> found() {
  std::map<std::string, std::string> out;
  for (const fs::path& folder : folders()) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      std::error_code unknown;  // skips dangling links
      if (it->path().extension() != ".yaml" || !it->is_regular_file(unknown)) continue;
      out.emplace(it->path().stem().string(), it->path().string());
    }
  }
  return out;
}

}  // namespace

std::vector<PredefinedCluster> predefined_clusters() {
  std::vector<PredefinedCluster> out;
  for (const auto& [name, path] : found())
    out.push_back({name, path, read_cluster_description(path)});
  return out;
}

std::vector<std::string> predefined_cluster_names() {
  std::vector<std::string> out;
  for (const auto& [name, path] : found()) out.push_back(name);
  return out;
}

std::vector<std::string> predefined_gpu_types() {
  std::set<std::string> out;
  for (const auto& [name, path] : found()) {
    for (const std::string& type : gpu_type_names_in_yaml(path)) out.insert(type);
  }
  return {out.begin(), out.end()};
}

std::string find_predefined_cluster_path(const std::string& name) {
  const auto all = found();
  const auto it = all.find(name);
  return it == all.end() ? "" : it->second;
}

}  // namespace yard
