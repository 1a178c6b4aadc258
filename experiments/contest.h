// Many policies through the replicas of one scenario, on all cores: what each made of it, in as
// many figures as a comparison needs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/entrants.h"

namespace yard {

// Jobs by the GPUs that they ask for.
inline constexpr int kSizeClasses = 5;
int size_class_of(int32_t gpus);
const char* size_class_name(int size_class);  // "1", "2-4", "5-8", "9-16", ">16"

// What one policy made of a cell, averaged over replicas.
struct Score {
  std::string name;
  Level level = Level::kBlind;
  SpeedLevel speeds = SpeedLevel::kTold;
  // (B) sums over blocks of equally many jobs, which follow each other in time
  std::vector<double> block_jct_s;
  double mean_jct_s = 0;
  double p99_jct_s = 0;
  double max_wait_s = 0;
  double preemptions = 0;
  double moves = 0;        // of the preemptions, those of jobs that were started elsewhere at once
  double soon_again = 0;   // those less than 10 minutes after another of the job; NaN: not counted
  double ended_early = 0;  // jobs that it ended before their work was done
  std::array<double, kSizeClasses> class_jct_s{};  // means; 0 where a class has no jobs
  int64_t unfinished = 0;                          // over all replicas
  // Over all replicas, the simulator's own time among it; 0: not counted.
  double decisions = 0, core_s = 0;
};

// How many blocks so many jobs make: at least 40 jobs each, at most `most`.
int64_t num_blocks(int64_t jobs, int64_t most);

// Called on any thread, when all replicas of an entrant have been played.
using WhenScored = std::function<void(size_t entrant, const Score& score)>;
// The same after each replay, which took so long.
using WhenPlayed = std::function<void(const Entrant& entrant, double wall_s)>;

// Returns the score of each entrant. Requires: replicas are those of `scenario`.
std::vector<Score> play(const Scenario& scenario, const std::vector<Scenario>& replicas,
                        const std::vector<const Entrant*>& entrants, int64_t most_blocks,
                        const WhenScored& when_scored, const WhenPlayed& when_played);

}  // namespace yard
