#include "experiments/evaluate/cells.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "env/base/config/yaml_document.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "env/cluster/ready.h"
#include "env/cluster/yaml.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/replay/replay.h"

namespace yard {
namespace {

constexpr double kMaxCostScale = 1000;
constexpr int kMaxReplicas = 1000, kMaxBlocks = 1000, kMaxGenerated = 10'000'000;

// Defaults, which the file sets for its groups and a group for its cells.
struct CellDefaults {
  std::vector<double> congestions = {1};
  double cost_scale = 1;
  int replicas = 4, blocks = 24;
  int64_t seed = 1;
};

const std::vector<std::string> kDefaultKeys = {"congestions", "cost_scale", "replicas", "blocks",
                                               "seed"};

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<std::string> texts(const YamlMap& map, const std::string& key) {
  std::vector<std::string> out;
  if (!map.has(key)) return out;
  if (!map[key].IsSequence()) map.file().fail(map[key], key + " as a list");
  for (const auto& item : map[key]) {
    out.push_back(map.file().text(item, "names in " + key));
    if (std::count(out.begin(), out.end(), out.back()) > 1) {
      map.file().fail(item, "each name in " + key + " once");
    }
  }
  return out;
}

CellDefaults read_defaults(const YamlMap& map, CellDefaults defaults) {
  if (map.has("congestions")) {
    defaults.congestions.clear();
    for (const std::string& text : texts(map, "congestions")) {
      const auto value = parse_double(text);
      if (!value || !(*value >= 0) || *value > kMaxCongestion) {
        map.fail("congestions",
                 "numbers from 0 (arrivals unchanged) to " + shortest_text(kMaxCongestion),
                 "'" + text + "'");
      }
      defaults.congestions.push_back(*value);
    }
    if (defaults.congestions.empty()) map.fail("congestions", "at least one number", "none");
  }
  defaults.cost_scale = map.number("cost_scale", defaults.cost_scale, 0, kMaxCostScale);
  defaults.replicas = static_cast<int>(map.integer("replicas", defaults.replicas, 1, kMaxReplicas));
  defaults.blocks = static_cast<int>(map.integer("blocks", defaults.blocks, 1, kMaxBlocks));
  defaults.seed = map.integer("seed", defaults.seed, 0, INT64_MAX);
  return defaults;
}

ScenarioOverrides read_variation(const YamlMap& map) {
  ScenarioOverrides out;
  if (map.has("allows"))
    out.allows = parse_allowed_actions(texts(map, "allows"), map.where("allows"));
  out.cluster = map.number("cluster_scale", 1, 1 / kMaxScale, kMaxScale);
  out.load = map.number("load_scale", 1, 1 / kMaxScale, kMaxScale);
  return out;
}

// Names become parts of paths and of cell names.
void check_name(const YamlMap& map, const std::string& key) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  if (!key.empty() && std::ranges::all_of(key, plain)) return;
  map.fail(key, "a name of letters, digits, - and _", "'" + key + "'");
}

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path) {}

  CellFile read() {
    CellFile out;
    out.path = file_.path();
    const std::string text = read_file(file_.path());
    out.sha256 = sha256_hex(text);
    const YAML::Node document = parse_yaml_document(text, file_.path());
    const YamlMap root(file_, document, "a file of cells",
                       std::vector<std::string>{"against", "traces", "groups"} + kDefaultKeys);
    defaults_ = read_defaults(root, {});
    for (const std::string& name : texts(root, "against")) out.against.push_back(policy(name));
    for (const char* key : {"traces", "groups"}) {
      if (!root.has(key)) root.fail(key, std::string(key) + " by name", "none");
    }
    const YamlMap traces(file_, root["traces"], "traces");
    const YamlMap groups(file_, root["groups"], "groups");
    for (const std::string& name : traces.keys()) add_trace(traces, name);
    for (const std::string& name : groups.keys()) add_group(groups, name, out.cells);
    for (const std::string& name : groups.keys()) set_validation_cells(groups, name, out.cells);
    return out;
  }

 private:
  // A tuned policy's file is relative to the file of cells.
  std::string policy(const std::string& name) const {
    if (!is_tuned_policy_file(name)) return name;
    return (std::filesystem::path(file_.path()).parent_path() / name).lexically_normal().string();
  }

  void add_trace(const YamlMap& traces, const std::string& name) {
    check_name(traces, name);
    const YamlMap map(
        file_, traces[name], "a trace",
        {"file", "format", "sha256", "synthetic", "settings", "jobs", "seed", "cluster", "profiles",
         "profiles_sha256", "draw_models", "draw_demands", "skip_unusable"});
    CellSpec& cell = traces_.emplace_back(name, CellSpec{}).second;
    cell.scenario.cluster = map.text("cluster");
    map.has("synthetic") ? generated(map, cell) : recorded(map, cell);
    cell.scenario.skip_unusable = map.flag("skip_unusable", false);
    if (map.has("profiles")) profiles(map, cell);
    const auto draw = [&](const char* key, Settings& settings) {
      if (map.flag(key, false)) settings.set("draw", "true", map.where(key));
    };
    draw("draw_models", cell.scenario.models);
    draw("draw_demands", cell.scenario.demands);
  }

  static void profiles(const YamlMap& map, CellSpec& cell) {
    const std::vector<std::string> files = map.paths("profiles");
    const bool several = map["profiles"].IsSequence();
    const std::vector<std::string> hashes = several && map.has("profiles_sha256")
                                                ? texts(map, "profiles_sha256")
                                                : std::vector{map.text("profiles_sha256")};
    if (hashes.size() != files.size()) {
      map.fail("profiles_sha256",
               "one hash for each of " + std::to_string(files.size()) + " profiles",
               std::to_string(hashes.size()));
    }
    cell.scenario.profiles = join(files, ",");
    cell.profiles_sha256 = join(hashes, ",");
  }

  static void recorded(const YamlMap& map, CellSpec& cell) {
    for (const char* key : {"settings", "jobs", "seed"}) {
      if (map.has(key))
        map.fail(key, "this key only with `synthetic`", "'" + std::string(key) + "'");
    }
    cell.scenario.trace = map.path("file");
    cell.scenario.format = map.text("format", "");
    cell.sha256 = map.text("sha256");
  }

  // The hash covers every input of the generator.
  void generated(const YamlMap& map, CellSpec& cell) const {
    for (const char* key : {"file", "format", "sha256"}) {
      if (map.has(key)) map.fail(key, "either a file or `synthetic`", "both");
    }
    ScenarioOptions& s = cell.scenario;
    s.trace = "synthetic:" + map.text("synthetic");
    s.generate_jobs = static_cast<int>(map.integer("jobs", 0, 0, kMaxGenerated));
    s.seed = static_cast<uint64_t>(map.integer("seed", 1, 0, INT64_MAX));
    if (map.has("settings")) {
      const YamlMap settings(file_, map["settings"], "settings");
      for (const std::string& key : settings.keys()) {
        s.trace_settings.set(key, settings.text(key), settings.where(key));
      }
    }
    cell.sha256 = synthetic_parameters_sha256(
        s.trace, {.seed = s.seed, .jobs = s.generate_jobs, .settings = s.trace_settings});
  }

  void add_group(const YamlMap& groups, const std::string& name, std::vector<CellSpec>& out) {
    check_name(groups, name);
    const YamlMap map(file_, groups[name], "a group",
                      std::vector<std::string>{"traces", "from", "to", "warmup", "choose_on",
                                               "allows", "cluster_scale", "load_scale"} +
                          kDefaultKeys);
    const ScenarioOverrides variation = read_variation(map);
    const CellDefaults defaults = read_defaults(map, defaults_);
    const std::vector<std::string> members = texts(map, "traces");
    if (members.empty()) map.fail("traces", "a list of trace names", "none");
    for (const std::string& trace : members) {
      const auto known = std::ranges::find(traces_, trace, [](const auto& t) { return t.first; });
      if (known == traces_.end())
        map.fail("traces", "a name in `traces` of the file", "'" + trace + "'");
      for (const double congestion : defaults.congestions) {
        CellSpec cell = known->second;
        cell.name = name + "/" + trace + "/x" + shortest_text(congestion);
        if (congestion > 0) cell.scenario.congestion = congestion;
        cell.scenario.cost_scale = defaults.cost_scale;
        cell.scenario.variation = variation;
        cell.scenario.window.from = map.text("from", "");
        cell.scenario.window.to = map.text("to", "");
        cell.scenario.window.warmup = map.text("warmup", "");
        cell.replicas = defaults.replicas;
        cell.seed = static_cast<uint64_t>(defaults.seed);
        cell.max_blocks = defaults.blocks;
        out.push_back(std::move(cell));
      }
    }
  }

  // The baseline is chosen on the same trace if that group has it, otherwise on all of its traces.
  void set_validation_cells(const YamlMap& groups, const std::string& name,
                            std::vector<CellSpec>& cells) {
    const YamlMap map(file_, groups[name], "a group");
    if (!map.has("choose_on")) return;
    const std::string on = map.text("choose_on");
    if (on == name || !groups.has(on)) map.fail("choose_on", "another group", "'" + on + "'");
    for (CellSpec& cell : cells) {
      if (!cell.name.starts_with(name + "/")) continue;
      const std::string own = on + cell.name.substr(name.size());
      const std::string ending = cell.name.substr(cell.name.rfind('/'));
      std::vector<std::string> all;
      for (const CellSpec& other : cells) {
        if (!other.name.starts_with(on + "/") || !other.name.ends_with(ending)) continue;
        all.push_back(other.name);
      }
      if (std::ranges::find(all, own) != all.end()) all = {own};
      if (all.empty()) map.fail("choose_on", "a group with the same congestions", "'" + on + "'");
      cell.chosen_on = std::move(all);
    }
  }

  YamlFile file_;
  CellDefaults defaults_;
  std::vector<std::pair<std::string, CellSpec>> traces_;
};

// Returns the hash of the cluster's file, which may change; "" if it is not a file.
std::string cluster_sha256(const std::string& cluster) {
  const std::string ready = find_predefined_cluster_path(cluster);
  const std::string path = ready.empty() ? cluster : ready;
  return std::filesystem::is_regular_file(path) ? sha256_hex(read_file(path)) : "";
}

// Returns the names after the longest valid prefix of `name` (GROUP/TRACE/xCONGESTION).
std::vector<std::string> matching_names(const CellFile& file, const std::string& name) {
  std::string right;  // "", "GROUP/" or "GROUP/TRACE/"
  std::set<std::string> next;
  for (;;) {
    next.clear();
    for (const CellSpec& cell : file.cells) {
      if (!cell.name.starts_with(right)) continue;
      next.insert(cell.name.substr(0, cell.name.find('/', right.size())));
    }
    const size_t end = name.find('/', right.size());
    const std::string longer = name.substr(0, end) + "/";
    const bool goes_on = std::ranges::any_of(
        file.cells, [&](const CellSpec& cell) { return cell.name.starts_with(longer); });
    if (end == name.npos || !goes_on) return {next.begin(), next.end()};
    right = longer;
  }
}

}  // namespace

CellFile read_cells(const std::string& path) { return Reader(path).read(); }

std::vector<CellSpec> select_cells(const CellFile& file, const std::vector<std::string>& only) {
  std::set<std::string> used;
  std::vector<CellSpec> out;
  for (const CellSpec& cell : file.cells) {
    bool wanted = only.empty();
    for (const std::string& name : only) {
      if (cell.name != name && !cell.name.starts_with(name + "/")) continue;
      wanted = true;
      used.insert(name);
    }
    if (wanted) out.push_back(cell);
  }
  for (const std::string& name : only) {
    if (used.contains(name)) continue;
    throw InputError("--only", "one of " + join(matching_names(file, name)) + " in " + file.path,
                     "'" + name + "'");
  }
  return out;
}

std::vector<CellSpec> validation_cells(const CellFile& file, const std::vector<CellSpec>& cells) {
  std::set<std::string> names;
  for (const CellSpec& cell : cells) names.insert(cell.chosen_on.begin(), cell.chosen_on.end());
  std::vector<CellSpec> out;
  std::ranges::copy_if(file.cells, std::back_inserter(out),
                       [&](const CellSpec& cell) { return names.contains(cell.name); });
  return out;
}

void check_input_sha256(const std::vector<CellSpec>& cells) {
  std::set<std::pair<std::string, std::string>> seen;
  const auto check = [&](const CellSpec& cell, const std::string& path, const std::string& said) {
    if (is_synthetic(path) || !seen.emplace(path, said).second) return;
    const std::string sha256 = sha256_hex(read_decompressed_file(path));
    if (sha256 != said) throw InputError(path, "sha256 " + said + " of cell " + cell.name, sha256);
  };
  for (const CellSpec& cell : cells) {
    check(cell, cell.scenario.trace, cell.sha256);
    if (cell.scenario.profiles.empty()) continue;
    const auto files = split(cell.scenario.profiles, ','), said = split(cell.profiles_sha256, ',');
    for (size_t i = 0; i < files.size(); ++i) {
      check(cell, std::string(files[i]), std::string(said[i]));
    }
  }
}

nlohmann::ordered_json inputs_of(const CellSpec& cell) {
  const ScenarioOptions& s = cell.scenario;
  nlohmann::ordered_json out = {
      {"trace_sha256", cell.sha256}, {"format", s.format},
      {"cluster", s.cluster},        {"cluster_sha256", cluster_sha256(s.cluster)},
      {"from", s.window.from},       {"to", s.window.to},
      {"warmup", s.window.warmup},   {"congestion", s.congestion.value_or(0)},
      {"cost_scale", s.cost_scale},  {"replicas", cell.replicas},
      {"seed", cell.seed},           {"blocks", cell.max_blocks}};
  if (!s.profiles.empty()) out["profiles_sha256"] = cell.profiles_sha256;
  if (!s.models.entries().empty()) out["draw_models"] = true;
  if (!s.demands.entries().empty()) out["draw_demands"] = true;
  if (s.skip_unusable) out["skip_unusable"] = true;
  if (s.variation.allows != AllowedActions{})
    out["allows"] = allowed_action_words(s.variation.allows);
  if (s.variation.cluster != 1) out["cluster_scale"] = s.variation.cluster;
  if (s.variation.load != 1) out["load_scale"] = s.variation.load;
  return out;
}

std::string hash_of(const CellSpec& cell) {
  return sha256_hex(inputs_of(cell).dump()).substr(0, 16);
}

Scenario scenario_of(const CellSpec& cell, const TraceOnCluster& source,
                     const std::optional<ArrivalCalibration>& known) {
  const ScenarioOptions& s = cell.scenario;
  try {
    return make_scenario(source, s.window, s.congestion, s.cost_scale, known);
  } catch (const CongestionUnreachable& error) {
    if (cell.sha256.empty()) throw;
    throw CongestionUnreachable("cell " + cell.name + ": " + error.what());
  } catch (const InputError& error) {
    if (cell.sha256.empty()) throw;
    throw InputError("cell " + cell.name + ": " + error.what());  // one cell of many
  }
}

}  // namespace yard
