// Files which the command `evolve` writes after every generation: the best policy so far as a
// policy file, and the state from which the search resumes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/evaluate/cells.h"
#include "experiments/search/evolution.h"

namespace yard::sim {

// Returns the path of the state file of the search which writes `out`.
std::filesystem::path search_state_path(std::filesystem::path out);

class EvolveFiles {
 public:
  struct SearchInputs {
    std::filesystem::path out;  // policy file; empty: no files
    std::string policy;
    EvolutionOptions evolution;
    Settings given, start;
    std::vector<CellSpec> cells, validation;
    int episodes = 0, episode_jobs = 0;
    std::string drop;
    int validation_episodes = 0;
    std::string warmup;
    bool drain = false;
    std::string options;              // options of the command which affect results
    std::vector<std::string> traces;  // SHA-256 hashes
  };

  explicit EvolveFiles(SearchInputs search);

  // Reads the saved state. Throws InputError if the state is missing or from a different search.
  EvolutionState load_state();

  // Writes policy file and state, with the CPU seconds of this and previous processes. Does nothing
  // if `out` is empty. Throws RunError if writing fails.
  void save(const EvolutionState& state) const;

 private:
  std::string policy_yaml(const EvolutionState& state) const;

  SearchInputs search_;
  std::string inputs_sha256_;   // hash of all inputs of the search
  double previous_core_s_ = 0;  // CPU seconds before a resume; below 0: unknown
};

}  // namespace yard::sim
