#include "experiments/search/evolve_files.h"

#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <set>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/os/cpu_time.h"
#include "env/base/text/text.h"

namespace yard::sim {
namespace {

void entry(YAML::Emitter& out, const std::string& key, const std::string& value) {
  out << YAML::Key << key << YAML::Value << value;
}

void write_cells(YAML::Emitter& out, const char* key, const std::vector<CellSpec>& cells) {
  out << YAML::Key << key << YAML::Value << YAML::BeginMap;
  for (size_t c = 0; c < cells.size(); ++c) {
    const CellSpec& cell = cells[c];
    out << YAML::Key << (cell.name.empty() ? "cell_" + std::to_string(c + 1) : cell.name)
        << YAML::Value << YAML::BeginMap;
    // File name only: the result must not depend on where traces are stored.
    entry(out, "trace", std::filesystem::path(cell.scenario.trace).filename().string());
    if (!cell.sha256.empty()) entry(out, "sha256", cell.sha256);
    entry(out, "cluster", std::filesystem::path(cell.scenario.cluster).filename().string());
    entry(out, "from", cell.scenario.window.from);
    entry(out, "to", cell.scenario.window.to);
    if (cell.scenario.congestion) {
      entry(out, "congestion", shortest_text(*cell.scenario.congestion));
    }
    out << YAML::EndMap;
  }
  out << YAML::EndMap;
}

// Writes every setting of the search except its number of generations.
void write_search_options(YAML::Emitter& out, const EvolveFiles::SearchInputs& search) {
  entry(out, "learner", "SNES");
  entry(out, "episodes_a_cell", std::to_string(search.episodes));
  entry(out, "episode_jobs", std::to_string(search.episode_jobs));
  entry(out, "episode_warmup", search.warmup);
  entry(out, "after_an_episode", search.drain ? "nothing" : "its jobs again");
  entry(out, "validation_episodes_a_cell", std::to_string(search.validation_episodes));
  entry(out, "candidates", std::to_string(search.evolution.candidates));
  entry(out, "episodes_a_generation", std::to_string(search.evolution.episodes));
  entry(out, "step", shortest_text(search.evolution.step));
  entry(out, "drop",
        search.drop.empty() ? "none"
                            : search.drop + " in " + shortest_text(search.evolution.drop_share));
  entry(out, "tails", shortest_text(search.evolution.tails));
  entry(out, "seed", std::to_string(search.evolution.seed));
  write_cells(out, "cells", search.cells);
  write_cells(out, "validation", search.validation);
}

std::string hash_of(const EvolveFiles::SearchInputs& search) {
  YAML::Emitter all;
  all << YAML::BeginMap;
  entry(all, "policy", search.policy);
  for (const Settings* settings : {&search.given, &search.start}) {
    for (const GivenSetting& s : settings->entries()) entry(all, s.key, s.value);
  }
  for (const std::string& name : search.evolution.learn) entry(all, "learn", name);
  write_search_options(all, search);
  entry(all, "options", search.options);
  for (const std::string& sha256 : search.traces) entry(all, "trace", sha256);
  all << YAML::EndMap;
  return sha256_hex(all.c_str());
}

}  // namespace

EvolveFiles::EvolveFiles(SearchInputs search)
    : search_(std::move(search)), inputs_sha256_(hash_of(search_)) {}

std::filesystem::path search_state_path(std::filesystem::path out) {
  return out.replace_extension(".search.json");
}

EvolutionState EvolveFiles::load_state() {
  const std::string where = search_state_path(search_.out).string();
  const std::string text = read_file(where);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("inputs_sha256") || !json.contains("state")) {
    throw InputError(where, "a saved search", "other content");
  }
  if (json["inputs_sha256"] != inputs_sha256_) {
    throw InputError(where, "a search with the same options except --generations",
                     "a different one");
  }
  previous_core_s_ = json.value("core_s", -1.0);
  return parse_evolution_state(json["state"].dump(), where);
}

void EvolveFiles::save(const EvolutionState& state) const {
  if (search_.out.empty()) return;
  AtomicFiles files;
  files.add(search_.out, policy_yaml(state));
  nlohmann::json json = {{"inputs_sha256", inputs_sha256_},
                         {"state", nlohmann::json::parse(to_json(state))}};
  if (previous_core_s_ >= 0) json["core_s"] = previous_core_s_ + process_cpu_s();
  files.add(search_state_path(search_.out), json.dump() + "\n");
  files.commit();
}

std::string EvolveFiles::policy_yaml(const EvolutionState& state) const {
  YAML::Emitter out;
  out << YAML::BeginMap;
  entry(out, "policy", search_.policy);
  out << YAML::Key << "settings" << YAML::Value << YAML::BeginMap;
  std::set<std::string> written;
  const auto setting = [&](const std::string& key, const std::string& value) {
    if (written.insert(key).second) entry(out, key, value);
  };
  for (const GivenSetting& s : search_.given.entries()) setting(s.key, s.value);
  for (const auto& [key, value] : state.best.settings) setting(key, value);
  for (const GivenSetting& s : search_.start.entries()) setting(s.key, s.value);
  out << YAML::EndMap << YAML::Key << "provenance" << YAML::Value << YAML::BeginMap;
  entry(out, "generations", std::to_string(state.snes.generation));
  entry(out, "generation_kept", std::to_string(state.best.generation));
  entry(out, "validation_ratio_to_start", shortest_text(state.best.ratio));
  entry(out, "played", std::to_string(state.best.played));
  write_search_options(out, search_);
  out << YAML::EndMap << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace yard::sim
