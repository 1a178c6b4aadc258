// Many worlds of one task as a trainer sees them: rows to choose from, what was chosen, what came
// of it. A task's batch becomes one by `TaskWorlds` (task_worlds.h); a problem with a known answer,
// such as a bandit, is one by itself.
// Dims: N worlds, J rows, F features a row, C features of the whole, A = J + 1 actions, the last of
// them to do nothing more.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "env/batch/batch_env.h"

namespace yard {

using WorldsShape = TaskShape;

// Valid until the next step(), restore() or reset().
struct WorldsSight {
  // The present decision.
  std::span<const float> jobs;         // (N, J, F)
  std::span<const float> cluster;      // (N, C)
  std::span<const uint8_t> mask;       // (N, A)
  std::span<const float> prior;        // (N, A) logits, very low where the mask is 0
  std::span<const int32_t> rows;       // (N) rows of `jobs` that exist
  std::span<const int32_t> suggested;  // (N) what the task's own heuristic would do
  // The last step.
  std::span<const float> reward;   // (N)
  std::span<const float> dt_s;     // (N) seconds that passed
  std::span<const Ending> ending;  // (N)
  // What a world saw last before it was cut off.
  std::span<const float> final_jobs, final_cluster;  // (N, J, F), (N, C)
  std::span<const int32_t> final_rows;               // (N)
  // (N, A) of the present decision: what is worth trying; empty: nobody asked for it.
  std::span<const uint8_t> hints = {};
};

class Worlds {
 public:
  virtual ~Worlds() = default;

  virtual WorldsShape shape() const = 0;
  virtual int count() const = 0;
  virtual WorldsSight sight() const = 0;

  // Starts every world's first episode.
  virtual void reset() = 0;

  // One legal action a world (N); worlds that wait for begin_episodes() are passed over.
  virtual void step(std::span<const int32_t> actions) = 0;
  virtual void begin_episodes() = 0;  // the next one in every world, wherever it stands
  virtual bool waits(int world) const = 0;

  virtual double elapsed_s(int world) const = 0;  // since its episode began

  // Episodes are of one of so many courses each, drawn by lot; from the next on, of this one.
  virtual int courses() const { return 1; }
  virtual void play_only([[maybe_unused]] int course) {}

  // Takes the mean JCT of each episode that ended since the last call.
  virtual std::vector<double> take_mean_jcts_s() = 0;

  // All that a resumed training needs to go on exactly. restore() throws InputError for bytes of
  // other worlds, changing nothing.
  virtual std::string save() const = 0;
  virtual void restore(std::string_view saved) = 0;
};

// What a trainer asks of the worlds that it is given.
struct WorldsOptions {
  int worlds = 1;
  int first_world = 0;  // of all ranks' worlds, this rank's first
  int threads = 1;
  int group = 1;  // so many neighbours play the same jobs
  int episode_jobs = 256;
  int max_decisions = 0;
  bool wait_at_end = false;
  bool hints = false;  // sight() has them, where the task gives any
  uint64_t seed = 1;
};

}  // namespace yard
