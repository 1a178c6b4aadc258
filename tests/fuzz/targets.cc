#include "tests/fuzz/targets.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "env/base/text/text.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;

// Uses memory if possible, because a target writes thousands of files per second.
fs::path place() {
  const fs::path memory = "/dev/shm";
  return fs::is_directory(memory) ? memory : fs::temp_directory_path();
}

// A temporary folder, removed when the process exits.
class Folder {
 public:
  Folder() : path_(place() / ("yard_fuzz_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

std::vector<Target> targets() {
  std::vector<Target> out;
  for (auto& group : {trace_targets(), cluster_targets(), profile_targets(), config_targets()}) {
    out.insert(out.end(), group.begin(), group.end());
  }
  return out;
}

Target target(std::string_view name) {
  std::vector<std::string> names;
  for (Target& one : targets()) {
    if (one.name == name) return std::move(one);
    names.push_back(one.name);
  }
  throw InputError("--format", "one of: " + join(names), "'" + std::string(name) + "'");
}

std::string write_input_file(const std::string& name, std::string_view text) {
  static const Folder folder;
  const std::string path = (folder.path() / name).string();
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace yard::testing
