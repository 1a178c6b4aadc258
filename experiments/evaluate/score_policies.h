// Replays many policies on the replicas of one scenario, on all cores, and scores each.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/evaluate/policy_specs.h"

namespace yard {

// Jobs are divided into size classes by their requested GPUs.
inline constexpr int kSizeClasses = 5;
int size_class_of(int32_t gpus);
const char* size_class_name(int size_class);  // "1", "2-4", "5-8", "9-16", ">16"

// Scores of one policy in a cell, averaged over replicas unless noted.
struct PolicyScore {
  std::string name;
  Level level = Level::kBlind;
  SpeedInformation speeds = SpeedInformation::kExact;
  // (B)  JCT sums over blocks of consecutive jobs, equally many in each
  std::vector<double> block_jct_s;
  double mean_jct_s = 0;
  double p99_jct_s = 0;
  double max_wait_s = 0;
  double preemptions = 0;
  double migrations = 0;  // preemptions followed by a start elsewhere in the same plan
  double rapid_repreemptions =
      0;                   // preemptions within 10 minutes of the job's last one; NaN: not counted
  double ended_early = 0;  // jobs that the policy ended before their work was done
  std::array<double, kSizeClasses>
      class_jct_s{};       // mean JCT by size class; 0: no job is in the class
  int64_t unfinished = 0;  // sum over replicas
  // Sums over replicas, simulation time included. 0: not counted.
  double decisions = 0, core_s = 0;
};

// Returns the number of blocks: at least 40 of `jobs` in each, at most `max_blocks` blocks.
int64_t num_blocks(int64_t jobs, int64_t max_blocks);

// Called on any thread when all replicas of a policy have been replayed.
using OnScored = std::function<void(size_t policy_spec, const PolicyScore& score)>;
// Called on any thread after each replay, with its duration.
using OnReplayed = std::function<void(const PolicySpec& policy_spec, double wall_s)>;

// Returns one score per policy. Requires: `replicas` are replicas of `scenario`.
std::vector<PolicyScore> score_policies(const Scenario& scenario,
                                        const std::vector<Scenario>& replicas,
                                        const std::vector<const PolicySpec*>& policy_specs,
                                        int64_t max_blocks, const OnScored& on_scored,
                                        const OnReplayed& on_replayed);

}  // namespace yard
