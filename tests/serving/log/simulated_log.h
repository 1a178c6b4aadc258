// Plays a simulation and sends its events to a real server, which writes a decision log.
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

// Plays `jobs` under the heuristic `policy` until `until_s`, and asks a server of the same policy
// at every event. The server's log is in `folder`. Returns the number of requests.
int log_simulation(const std::filesystem::path& folder, const std::string& policy,
                   const std::string& cluster, const std::vector<Job>& jobs,
                   double until_s = std::numeric_limits<double>::infinity());

}  // namespace yard::testing
