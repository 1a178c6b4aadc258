// A vectorised environment: N worlds (simulated clusters) play episodes of a task and write their
// observations into shared tensors. Threads divide the worlds among them. A world's trajectory
// depends only on its seed and its actions.
// Dims: N worlds, J jobs of the window, F features per job, C cluster features.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "env/base/core/rng.h"
#include "env/sim/rules/world.h"
#include "env/task/agent.h"
#include "env/task/select.h"
#include "env/task/task.h"

namespace yard {

class HugePages;
class ThreadPool;

template <Task T>
struct BasicBatchConfig {
  int worlds = 64;
  int first_world = 0;  // index of the first world, if the batches of several processes act as one
  int threads = 1;
  int group = 1;  // number of consecutive worlds that play the same jobs
  int episode_jobs = 256;
  int max_decisions = 0;          // decisions after which an episode is truncated; 0: never
  bool prior = true;              // false: the caller does not need prior()
  bool wait_at_end = false;       // a finished world pauses until begin_next_episodes()
  bool exploration_mask = false;  // true: the caller needs exploration_mask()
  uint64_t seed = 1;
  typename T::Config task = {};
};
using BatchConfig = BasicBatchConfig<AnyAgentTask>;

// A cluster and the jobs that are played on it.
struct EnvSpec {
  SimModel fixed;  // must, with the workload, outlive the batch
  const Workload* workload = nullptr;
  double weight = 1;  // relative frequency of episodes of this EnvSpec
};

// Whether the last step ended an episode. The return of a truncated episode is bootstrapped.
enum class Ending : uint8_t { kNone, kTerminated, kTruncated };

struct EpisodeResult {
  int world;
  int64_t number;  // number of the world's episode, from 0
  int32_t env_spec;
  int32_t first_job;
  double mean_jct_s;  // mean over the finished jobs
  int64_t decisions;
};

template <Task T>
class BasicBatchEnv {
 public:
  // Episodes are windows of `workload`, on the cluster and with the costs of `fixed`; both must
  // outlive the batch. Requires: worlds % group == 0, 0 < episode_jobs <= jobs of the workload.
  BasicBatchEnv(const SimModel& fixed, const Workload& workload, const BasicBatchConfig<T>& config);
  // Each episode draws one of `env_specs` by weight.
  BasicBatchEnv(std::vector<EnvSpec> env_specs, const BasicBatchConfig<T>& config);
  ~BasicBatchEnv();

  // Sets every EnvSpec::weight for later episodes. Requires: `weights` has a weight above 0.
  void set_env_spec_weights(std::span<const double> weights);

  // Starts every world's first episode. Throws InputError if a world finds no decisions to make.
  void reset();

  // Takes one legal action per world (N) and advances each world to its next decision, through as
  // many events as needed and, at the end, into the next episode. Waiting worlds are skipped.
  void step(std::span<const int32_t> actions);

  // Starts every world's next episode, and abandons episodes in progress.
  void begin_next_episodes();
  bool is_done(int world) const;

  int32_t num_waiting(int world) const;

  // Returns the seconds since the episode of a world began.
  double elapsed_s(int world) const;

  // Copies world `from` to world `to`: its state, task memory and stream of future episodes.
  void fork(int from, int to);

  // Sets where the next observations are written, e.g. the next step of a rollout. The buffers have
  // the sizes of jobs(), cluster() and mask(), and must outlive the batch. The current observation
  // is not moved.
  void bind_buffers(float* jobs, float* cluster, uint8_t* mask);

  // Tensors of the current decision, valid until the next call of step().
  std::span<const float> jobs() const { return {at_.jobs, jobs_.size()}; }           // (N, J, F)
  std::span<const float> cluster() const { return {at_.cluster, cluster_.size()}; }  // (N, C)
  std::span<const uint8_t> mask() const { return {at_.mask, mask_.size()}; }         // (N, J + 1)
  std::span<const float> prior() const { return prior_; }                            // (N, J + 1)
  std::span<const uint8_t> exploration_mask() const { return exploration_mask_; }    // (N, J + 1)
  std::span<const int32_t> rows() const { return rows_; }                            // (N)
  std::span<const int32_t> expert_action() const { return expert_action_; }          // (N)

  // Tensors of the last step.
  std::span<const float> reward() const { return reward_; }   // (N) reward defined by the task
  std::span<const float> dt_s() const { return dt_s_; }       // (N) seconds passed in the step
  std::span<const Ending> ending() const { return ending_; }  // (N)
  // The last observations of truncated episodes, by world: (N, J, F), (N, C), (N).
  std::span<const float> final_jobs() const { return final_jobs_; }
  std::span<const float> final_cluster() const { return final_cluster_; }
  std::span<const int32_t> final_rows() const { return final_rows_; }

  // Returns the results of episodes that ended since the last call of take_results().
  std::vector<EpisodeResult> take_results();

  int worlds() const { return config_.worlds; }
  const ObservationShape& shape() const { return shape_; }
  int num_env_specs() const { return static_cast<int>(env_specs_.size()); }

  // Returns the state of every world, and the weights of EnvSpecs. Requires: reset() or restore()
  // was called.
  std::vector<std::byte> save() const;
  // Throws InputError and changes nothing if `saved` is damaged or was saved with other settings.
  void restore(std::span<const std::byte> saved);

 private:
  struct Tensors {
    float *jobs, *cluster;
    uint8_t* mask;
    friend bool operator==(const Tensors&, const Tensors&) = default;
  };
  struct EpisodeState;
  struct EnvInstance;

  void begin_episode(int world);
  void throw_if_no_decisions() const;
  void step_world(int world, int32_t action);
  bool advance_to_choice(int world);
  bool continue_or_commit_decision(int world);
  void rebuild_decision(EpisodeState& episode_state) const;
  void observe_world(int world);
  double cumulative_reward(EpisodeState& episode_state, double job_s) const;
  void bind_to_tensors(Observation& observation, int world, const Tensors& tensors,
                       int32_t nonzero_rows) const;
  int64_t floats_per_window() const { return int64_t{shape_.rows} * shape_.row_features; }
  void select_env_spec(EnvInstance& instance, int32_t env_spec);
  int32_t draw_env_spec(const Rng& rng) const;

  std::vector<EnvSpec> env_specs_;
  BasicBatchConfig<T> config_;
  ObservationShape shape_;
  std::string signature_;             // hash of every EnvSpec and of the configuration
  std::unique_ptr<HugePages> pages_;  // memory of all worlds
  std::pmr::vector<float> jobs_;
  std::pmr::vector<uint8_t> mask_;
  std::atomic<bool> idle_ = false;  // true: a world finds no decisions to make
  bool begun_ = false;              // reset() or restore() was called
  std::vector<std::unique_ptr<EnvInstance>> instances_;
  std::unique_ptr<ThreadPool> pool_;
  std::vector<float> cluster_, prior_, reward_, dt_s_, final_jobs_, final_cluster_;
  std::vector<uint8_t> exploration_mask_;
  std::vector<int32_t> rows_, slots_, expert_action_, final_rows_;
  std::vector<Ending> ending_;
  Tensors at_{}, next_{};  // buffers of the current and the next observations
};

using BatchEnv = BasicBatchEnv<AnyAgentTask>;
using SelectEnv = BasicBatchEnv<JobSelectionTask>;

}  // namespace yard
