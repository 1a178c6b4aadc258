// Replays many policies on the replicas of one scenario, on all cores, and scores each policy.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/evaluate/policy_specs.h"

namespace yard {

// Number of size classes, which group jobs by requested GPUs.
inline constexpr int kSizeClasses = 5;
int size_class_of(int32_t gpus);
const char* size_class_name(int size_class);  // GPUs: "1", "2-4", "5-8", "9-16", ">16"

// Scores of one policy in a cell, averaged over replicas unless a field's comment says otherwise.
struct PolicyScore {
  std::string name;
  InformationLevel level = InformationLevel::kBlind;
  SpeedInformation speeds = SpeedInformation::kExact;
  // (B) JCT sums over blocks of consecutive jobs; all blocks have equally many jobs
  std::vector<double> block_jct_s;
  double mean_jct_s = 0;
  double p99_jct_s = 0;
  double max_wait_s = 0;
  double preemptions = 0;
  double migrations = 0;           // preemptions with a start elsewhere in the same plan
  double rapid_repreemptions = 0;  // repeat preemptions of a job within 10 min; NaN: unknown
  double ended_early = 0;          // jobs that the policy ended before all work was done
  std::array<double, kSizeClasses> class_jct_s{};  // mean JCT by size class; 0: no jobs
  int64_t unfinished = 0;                          // jobs that never ended, sum over replicas
  // Decisions and core-seconds of decisions and simulation, sums over replicas; 0 if not counted.
  double decisions = 0, core_s = 0;
};

// Returns the number of blocks for `jobs` jobs: at most `max_blocks`, each with at least 40 jobs.
int64_t num_job_blocks(int64_t jobs, int64_t max_blocks);

// Callback on any thread, called when all replicas of a policy have been replayed.
using OnScored = std::function<void(size_t policy_spec, const PolicyScore& score)>;
// Callback on any thread, called after each replay with the replay's duration.
using OnReplayed = std::function<void(const PolicySpec& policy_spec, double wall_s)>;

// Returns one score per policy spec. Requires: `replicas` are replicas of `scenario`.
std::vector<PolicyScore> score_policies(const Scenario& scenario,
                                        const std::vector<Scenario>& replicas,
                                        const std::vector<const PolicySpec*>& policy_specs,
                                        int64_t max_blocks, const OnScored& on_scored,
                                        const OnReplayed& on_replayed);

}  // namespace yard
