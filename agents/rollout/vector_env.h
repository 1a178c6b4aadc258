// A vector of environments of one agent, as seen by a trainer. Dims: N environments, J rows, F
// features per row, C features of the cluster, A = J + 1 actions, the last of which is the no-op.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "env/batch/batch_env.h"
#include "env/task/observation.h"

namespace yard {

// Observations and outcomes of the last step, valid until the next step(), restore() or reset().
struct Observations {
  // The current decision.
  std::span<const float> jobs;             // (N, J, F)
  std::span<const float> cluster;          // (N, C)
  std::span<const uint8_t> mask;           // (N, A)
  std::span<const float> prior;            // (N, A) logits, very low where the mask is 0
  std::span<const int32_t> rows;           // (N) number of rows of `jobs` that are in use
  std::span<const int32_t> expert_action;  // (N) the expert's action
  // The last step.
  std::span<const float> reward;   // (N)
  std::span<const float> dt_s;     // (N) seconds of simulated time that passed
  std::span<const Ending> ending;  // (N)
  // The last observation of an environment before its episode was truncated.
  std::span<const float> final_jobs, final_cluster;  // shapes (N, J, F), (N, C)
  std::span<const int32_t> final_rows;               // (N)
  // (N, A) exploration mask of the current decision; empty: not requested.
  std::span<const uint8_t> exploration_mask = {};
};

class VectorEnv {
 public:
  virtual ~VectorEnv() = default;

  virtual ObservationShape shape() const = 0;
  virtual int count() const = 0;
  virtual Observations observations() const = 0;

  // Starts the first episode of every environment.
  virtual void reset() = 0;

  // Applies a legal action per environment (N), but skips environments waiting for new episodes.
  virtual void step(std::span<const int32_t> actions) = 0;
  virtual void begin_next_episodes() = 0;  // abandons all episodes and begins the next ones
  virtual bool is_done(int world) const = 0;

  virtual double elapsed_s(int world) const = 0;  // seconds since the environment's episode began

  // Returns the number of environment specs; each episode plays a random one of them. After
  // select_env_spec(), all later episodes play the selected environment spec.
  virtual int num_env_specs() const { return 1; }
  virtual void select_env_spec([[maybe_unused]] int env_spec) {}

  // Returns the mean JCT in seconds of each episode which ended since the last call.
  virtual std::vector<double> take_mean_jcts_s() = 0;

  // save() returns all state which a resumed training needs to continue exactly. For the state of
  // other environments, restore() throws InputError and changes nothing.
  virtual std::string save() const = 0;
  virtual void restore(std::string_view saved) = 0;
};

// Options which a trainer sets for its environments; it leaves `task` unset.
using VectorEnvOptions = BatchConfig;

}  // namespace yard
