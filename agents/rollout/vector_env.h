// A vector of environments of one agent, as a trainer sees it. Dims: N environments, J rows, F
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

// Observations and the outcome of the last step. Valid until the next step(), restore() or reset().
struct Observations {
  // The current decision.
  std::span<const float> jobs;             // (N, J, F)
  std::span<const float> cluster;          // (N, C)
  std::span<const uint8_t> mask;           // (N, A)
  std::span<const float> prior;            // (N, A) logits, very low where the mask is 0
  std::span<const int32_t> rows;           // (N) rows of `jobs` that exist
  std::span<const int32_t> expert_action;  // (N) the expert's action
  // The last step.
  std::span<const float> reward;   // (N)
  std::span<const float> dt_s;     // (N) seconds that passed since the previous decision
  std::span<const Ending> ending;  // (N)
  // The last observation of an environment before its episode was truncated.
  std::span<const float> final_jobs, final_cluster;  // (N, J, F), (N, C)
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

  // Applies one legal action per environment (N). Skips environments which wait for
  // begin_episodes().
  virtual void step(std::span<const int32_t> actions) = 0;
  virtual void
  begin_episodes() = 0;  // begins the next episode in every environment, abandoning the current one
  virtual bool is_done(int world) const = 0;

  virtual double elapsed_s(int world) const = 0;  // seconds since the environment's episode began

  // Each episode plays one of `env_specs()` env_specs, drawn at random. After select_env_spec(),
  // all later episodes play this one.
  virtual int env_specs() const { return 1; }
  virtual void select_env_spec([[maybe_unused]] int env_spec) {}

  // Takes the mean JCT of each episode which ended since the last call.
  virtual std::vector<double> take_mean_jcts_s() = 0;

  // All state which a resumed training needs to continue exactly. restore() throws InputError for
  // the state of other environments and then changes nothing.
  virtual std::string save() const = 0;
  virtual void restore(std::string_view saved) = 0;
};

// What a trainer requires of its environments; `task` is unset.
using VectorEnvOptions = BatchConfig;

}  // namespace yard
