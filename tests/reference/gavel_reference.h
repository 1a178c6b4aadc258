// A second implementation of first come, first served in Gavel's simulator: maps are walked in full
// every round. Shares no code with the simulator. Compared with it in
// tests/env/rulesets/gavel_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace yard::reference {

struct GavelJob {
  double arrival_s = 0;
  int64_t steps = 0;
  int gpus = 0;
  std::map<std::string, double> steps_per_s;  // by type
};

struct GavelOutcome {
  double start_s = -1;
  double end_s = -1;  // negative: it was dropped
  int stops = 0;
};

struct GavelSettings {
  int64_t round_s = 360;
  int64_t recompute_s = 1920;
  uint32_t seed = 0;
};

// Returns nothing if some jobs can never run. Requires: jobs by arrival.
std::vector<GavelOutcome> gavel(const std::vector<GavelJob>& jobs,
                                const std::map<std::string, int>& workers,
                                const GavelSettings& settings);

// Returns `count` values of Python's random.Random(seed).randrange(n).
std::vector<uint32_t> python_randrange(uint32_t seed, uint32_t n, int count);

}  // namespace yard::reference
