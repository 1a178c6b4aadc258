// What a search leaves on disk after every generation: the best policy so far as a file that plays,
// and beside it all that it takes to go on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/cells.h"
#include "experiments/search/evolution.h"

namespace yard::sim {

// Where the state of the search lies that writes `out`.
std::filesystem::path search_state_path(std::filesystem::path out);

class EvolveFiles {
 public:
  struct Search {
    std::filesystem::path out;  // empty: nothing is kept
    std::string policy;
    EvolutionOptions how;
    Settings given, start;
    std::vector<CellSpec> cells, validation;
    int episodes = 0, episode_jobs = 0;
    std::string drop;
    int validation_episodes = 0;
    std::string warmup;
    bool drain = false;
    std::string options;              // the command's, but for those that do not decide how it goes
    std::vector<std::string> traces;  // sha256
  };

  explicit EvolveFiles(Search search);

  // Throws InputError: no such state, or that of another search.
  EvolutionState earlier();

  // With the core-seconds of this process and those before it. Throws RunError when the disk
  // refuses.
  void keep(const EvolutionState& state) const;

 private:
  std::string policy_yaml(const EvolutionState& state) const;

  Search search_;
  std::string inputs_;         // a hash of all that decides how the search goes
  double earlier_core_s_ = 0;  // below 0: a state that does not say
};

}  // namespace yard::sim
