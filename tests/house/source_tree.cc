#include "tests/house/source_tree.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string_view>

namespace yard::testing {
namespace {

constexpr int kMaxLines = 500;
constexpr int kMaxFiles = 40;  // code files directly in one folder

struct Floor {
  std::string_view folder;
  int level;
  bool sees_truth;
};

constexpr int kTopLevel = 7;  // experiments and tests may include all

// docs/design/architecture.md has the same table. A path belongs to the longest folder that is its
// prefix.
constexpr Floor kFloors[] = {
    {"env/base/", 0, true},
    {"env/cluster/", 1, true},
    {"env/trace/", 1, true},
    {"env/sim/", 2, true},
    {"env/predict/", 3, false},
    {"env/scheduling/", 3, false},
    {"env/task/", 4, false},
    {"policies/", 4, false},
    {"policies/learned/", 5, false},
    {"env/batch/", 5, true},
    {"agents/", 6, true},
    {"serving/", 6, false},
    {"experiments/", kTopLevel, true},
    {"tests/", kTopLevel, true},
};

// Ordered subfolders of a floor: each may include those before it.
const std::map<std::string_view, std::vector<std::string_view>>& subfolder_order() {
  static const std::map<std::string_view, std::vector<std::string_view>> subfolder_order = {
      {"env/base/", {"core", "text", "files", "config", "os"}},
      {"env/trace/", {"core", "formats/sacct", "formats", "profiles", "generators", "fitted"}},
      {"env/sim/", {"speed", "state", "rules", "view", "placement", "rulesets", "metrics"}},
      {"agents/", {"kernels", "ranks", "networks", "rollout", "learners", "train", "verify"}},
      {"serving/", {"snapshot", "log", "explain", "kubernetes", "engine", "net", "slurm"}},
      {"experiments/",
       {"stats", "run", "scenario", "replay", "evaluate", "search", "report", "whatif", "train",
        "c_abi", "cli", "programs"}},
  };
  return subfolder_order;
}

// Headers of future events, which no policy may include.
const std::set<std::string_view> kTruthHeaders = {"env/sim/state/truth.h",
                                                  "env/sim/state/event_queue.h"};

// Headers that cost seconds and a gigabyte, or need a library, and the paths that may use them.
struct HeavyHeader {
  std::string_view prefix;
  std::vector<std::string_view> folders;
};

const std::vector<HeavyHeader>& heavy_headers() {
  static const std::vector<HeavyHeader> rules = {
      {"torch/", {"agents/", "tests/agents/"}},
      {"ATen/", {"agents/", "tests/agents/"}},
      {"c10/", {"agents/", "tests/agents/"}},
      {"grpcpp/", {"serving/", "tests/serving/"}},
      {"grpc/", {"serving/", "tests/serving/"}},
      {"google/protobuf/", {"serving/", "tests/serving/"}},
      {"yardmaster/v1/", {"serving/", "tests/serving/"}},
      {"prometheus/", {"serving/", "tests/serving/"}},
      {"agents/", {"agents/", "experiments/train/", "experiments/programs/train/", "tests/"}},
      {"serving/", {"serving/", "experiments/programs/serve/", "tests/"}},
      {"Eigen/", {"policies/learned/", "env/sim/speed/", "tests/learned/"}},
      {"unsupported/Eigen/", {"env/sim/speed/"}},
      {"yaml-cpp/", {"env/base/", "env/cluster/", "env/trace/", "experiments/", "tests/"}},
  };
  return rules;
}

const Floor* floor_of(std::string_view path) {
  const Floor* best = nullptr;
  for (const Floor& floor : kFloors) {
    if (!path.starts_with(floor.folder)) continue;
    if (best == nullptr || floor.folder.size() > best->folder.size()) best = &floor;
  }
  return best;
}

// A floor may include itself and lower floors. Two folders of one level may not include each other.
bool may_include(const Floor& from, const Floor& to) {
  return from.folder == to.folder || to.level < from.level || from.level == kTopLevel;
}

// Returns the index of the path's subfolder within the floor, or -1 if it is in none.
int subfolder_of(std::string_view path, std::string_view folder) {
  const auto all = subfolder_order().find(folder);
  if (all == subfolder_order().end()) return -1;
  const std::string_view inside = path.substr(folder.size());
  int best = -1;
  for (int i = 0; i < static_cast<int>(all->second.size()); ++i) {
    const std::string_view room = all->second[static_cast<size_t>(i)];
    if (!inside.starts_with(room) || inside.size() <= room.size() || inside[room.size()] != '/') {
      continue;
    }
    if (best < 0 || room.size() > all->second[static_cast<size_t>(best)].size()) best = i;
  }
  return best;
}

void check_subfolders(const std::string& path, const SourceFile& file,
                      std::vector<std::string>& broken) {
  const Floor* from = floor_of(path);
  if (from == nullptr || !subfolder_order().contains(from->folder)) return;
  const int room = subfolder_of(path, from->folder);
  if (room < 0) broken.push_back(path + " is in no room of " + std::string(from->folder));
  for (const std::string& header : file.includes) {
    const Floor* to = floor_of(header);
    if (to == nullptr || to->folder != from->folder) continue;
    if (subfolder_of(header, to->folder) > room) {
      broken.push_back(path + " may not include " + header + " of a later room");
    }
  }
}

// Reports folders with too many code files for a reader to survey.
void check_folders(const SourceTree& tree, std::vector<std::string>& broken) {
  std::map<std::string, int> counts;
  for (const auto& [path, file] : tree) ++counts[path.substr(0, path.rfind('/'))];
  for (const auto& [folder, count] : counts) {
    if (count > kMaxFiles) {
      broken.push_back(folder + " has " + std::to_string(count) + " files of code, more than " +
                       std::to_string(kMaxFiles));
    }
  }
}

void check_floors(const std::string& path, const SourceFile& file,
                  std::vector<std::string>& broken) {
  const Floor* from = floor_of(path);
  if (from == nullptr) return;
  for (const std::string& header : file.includes) {
    const Floor* to = floor_of(header);
    if (to != nullptr && !may_include(*from, *to)) {
      broken.push_back(path + " may not include " + header);
    }
    if (to != nullptr && to->folder == "tests/" && from->folder != "tests/") {
      broken.push_back(path + " may not include a header of tests, " + header);
    }
    // The reference simulators must share no code with the simulator that they check.
    if (path.starts_with("tests/reference/") && to != nullptr && to->level >= 2 &&
        to->folder != "tests/") {
      broken.push_back(path + " must stay independent of " + header);
    }
  }
}

void check_heavy(const std::string& path, const SourceFile& file,
                 std::vector<std::string>& broken) {
  for (const std::string& header : file.includes) {
    for (const HeavyHeader& rule : heavy_headers()) {
      if (!header.starts_with(rule.prefix)) continue;
      bool allowed = false;
      for (const std::string_view folder : rule.folders) allowed |= path.starts_with(folder);
      // A loader may use yaml-cpp, but not in its header: includers would need it too.
      if (rule.prefix == "yaml-cpp/" && path.ends_with(".h")) allowed = false;
      if (!allowed) broken.push_back(path + " may not include " + header + " on its floor");
    }
  }
}

// Returns whether the includes from `path` reach a header of the truth, and the include chain.
bool reaches_truth(const SourceTree& tree, const std::string& path, std::set<std::string>& seen,
                   std::string& chain) {
  if (!seen.insert(path).second) return false;
  const auto file = tree.find(path);
  if (file == tree.end()) return false;
  for (const std::string& header : file->second.includes) {
    if (kTruthHeaders.contains(header)) {
      chain = path + " -> " + header;
      return true;
    }
    if (reaches_truth(tree, header, seen, chain)) {
      chain = path + " -> " + chain;
      return true;
    }
  }
  return false;
}

}  // namespace

std::string included_header(const std::string& line) {
  size_t at = line.find_first_not_of(" \t");
  if (at == std::string::npos || line[at] != '#') return "";
  at = line.find_first_not_of(" \t", at + 1);
  if (at == std::string::npos || line.compare(at, 7, "include") != 0) return "";
  const size_t open = line.find_first_of("\"<", at + 7);
  if (open == std::string::npos) return "";
  const size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
  if (close == std::string::npos) return "";
  return line.substr(open + 1, close - open - 1);
}

SourceTree read_source_tree(const std::string& root) {
  namespace fs = std::filesystem;
  SourceTree tree;
  for (const char* top : {"env", "policies", "agents", "serving", "experiments", "tests"}) {
    if (!fs::is_directory(fs::path(root) / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc" && extension != ".cu" && extension != ".cuh") {
        continue;
      }
      SourceFile& file = tree[fs::relative(entry.path(), root).generic_string()];
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line); ++file.lines) {
        if (std::string header = included_header(line); !header.empty()) {
          file.includes.push_back(std::move(header));
        }
      }
    }
  }
  return tree;
}

std::vector<std::string> broken_rules(const SourceTree& tree) {
  std::vector<std::string> broken;
  check_folders(tree, broken);
  for (const auto& [path, file] : tree) {
    check_floors(path, file, broken);
    check_subfolders(path, file, broken);
    check_heavy(path, file, broken);
    if (file.lines > kMaxLines) {
      broken.push_back(path + " has " + std::to_string(file.lines) + " lines, more than " +
                       std::to_string(kMaxLines));
    }
    const Floor* floor = floor_of(path);
    std::set<std::string> seen;
    std::string chain;
    if (floor != nullptr && !floor->sees_truth && reaches_truth(tree, path, seen, chain)) {
      broken.push_back(path + " may not know the truth: " + chain);
    }
  }
  return broken;
}

}  // namespace yard::testing
