// A simulated course whose every event is put before a real server, which keeps a log of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/scene.h"

namespace yard::testing {

// Jobs of the generator `habits` for a cluster.
std::vector<Job> habit_jobs(const std::string& cluster, int count, uint64_t seed);

// Asks a server of `policy`, a heuristic's name, at every event of a play under that policy until
// `until_s`. Its log is in `folder`. Returns how often it was asked.
int log_course(const std::filesystem::path& folder, const std::string& policy,
               const std::string& cluster, const std::vector<Job>& jobs,
               double until_s = std::numeric_limits<double>::infinity());

}  // namespace yard::testing
