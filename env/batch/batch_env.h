// Many worlds at once: each plays episodes of a task and writes what it sees into its
// slice of tensors that a learner reads without a copy. Worlds are dealt out to threads; a world's
// course depends on its seed and its actions alone, never on the number of threads.
// Dims: N worlds, J jobs of the window, F features, C features of the cluster.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "env/base/rng.h"
#include "env/sim/world.h"
#include "env/task/dispatch.h"
#include "env/task/joint_task.h"
#include "env/task/row_task.h"
#include "env/task/select.h"
#include "env/task/task.h"

namespace yard {

class HugePages;
class ThreadPool;

template <Task T>
struct BasicBatchConfig {
  int worlds = 64;
  int first_world = 0;  // its number where several batches, one a process, make up one
  int threads = 1;
  int group = 1;  // so many neighbouring worlds play the same jobs
  int episode_jobs = 256;
  int max_decisions = 0;     // an episode is cut off after so many; 0: never
  bool prior = true;         // false: nobody reads prior()
  bool hints = false;        // likewise hints()
  bool wait_at_end = false;  // a world whose episode is over waits for begin_episodes()
  uint64_t seed = 1;
  typename T::Config task;
};
using BatchConfig = BasicBatchConfig<Dispatch>;

// A cluster and the jobs that are played on it.
struct Course {
  Fixed fixed;  // what it points to, and the workload, outlive the batch
  const Workload* workload = nullptr;
  double weight = 1;  // how often it is played, beside the other courses' weights
};

// Why a world's last step ended its episode. A cut-off one has a future: its value counts.
enum class Ending : uint8_t { kNone, kTerminated, kTruncated };

struct EpisodeResult {
  int world;
  int64_t number;  // the world's how many-th
  int32_t course;
  int32_t first_job;
  double mean_jct_s;  // over the jobs that finished
  int64_t decisions;
};

template <Task T>
class BasicBatchEnv {
 public:
  // Episodes are windows of `workload`, on the cluster and with the costs of `fixed`; both outlive
  // the batch. Requires: worlds % group == 0, 0 < episode_jobs <= jobs of the workload.
  BasicBatchEnv(const Fixed& fixed, const Workload& workload, const BasicBatchConfig<T>& config);
  // The same over several courses: each episode draws one, by weight.
  BasicBatchEnv(std::vector<Course> courses, const BasicBatchConfig<T>& config);
  ~BasicBatchEnv();

  // Changes the courses' weights from the next episodes on: a curriculum. Requires: one a course,
  // at least one above 0.
  void set_weights(std::span<const double> weights);

  // Starts every world's first episode.
  void reset();

  // Carries out one legal action a world (N) and goes on to the next decision, through as many
  // events, and into the next episode, as need be. Worlds that wait are passed over.
  void step(std::span<const int32_t> actions);

  // Every world's next episode; one that is under way is left.
  void begin_episodes();
  bool waits(int world) const;

  int32_t num_waiting(int world) const;

  // Seconds since the world's episode began.
  double elapsed_s(int world) const;

  // Lets world `to` go on from where `from` stands: state, the task's memory, and the episodes to
  // come. Different actions then lead apart from the same inputs.
  void fork(int from, int to);

  // Lets the next observations go where a learner wants them, such as the next step of a rollout,
  // of the same sizes as jobs(), cluster() and mask(); they outlive the batch. The present decision
  // stays where it is until then.
  void aim(float* jobs, float* cluster, uint8_t* mask);

  // Of the present decision. Valid until the next step().
  std::span<const float> jobs() const { return {at_.jobs, jobs_.size()}; }           // (N, J, F)
  std::span<const float> cluster() const { return {at_.cluster, cluster_.size()}; }  // (N, C)
  std::span<const uint8_t> mask() const { return {at_.mask, mask_.size()}; }         // (N, J + 1)
  std::span<const float> prior() const { return prior_; }                            // (N, J + 1)
  std::span<const uint8_t> hints() const { return hints_; }                          // (N, J + 1)
  std::span<const int32_t> rows() const { return rows_; }                            // (N)
  std::span<const int32_t> suggested() const { return suggested_; }                  // (N)

  // Of the last step.
  std::span<const float> reward() const {
    return reward_;
  }                                                      // (N) by the task; most: minus job-seconds
  std::span<const float> dt_s() const { return dt_s_; }  // (N) seconds that passed
  std::span<const Ending> ending() const { return ending_; }  // (N)
  // What a truncated world saw last, before its new episode. (N, J, F), (N, C), (N)
  std::span<const float> final_jobs() const { return final_jobs_; }
  std::span<const float> final_cluster() const { return final_cluster_; }
  std::span<const int32_t> final_rows() const { return final_rows_; }

  // Takes the results of the episodes that ended since the last call.
  std::vector<EpisodeResult> take_results();

  int worlds() const { return config_.worlds; }
  int courses() const { return static_cast<int>(courses_.size()); }

  // All that a resumed training needs to go on exactly: every world's place in its course, and the
  // courses' weights.
  std::vector<std::byte> save() const;
  // Throws InputError, changing nothing, where it is not whole or of other settings.
  void restore(std::span<const std::byte> saved);

 private:
  struct Tensors {
    float *jobs, *cluster;
    uint8_t* mask;
    friend bool operator==(const Tensors&, const Tensors&) = default;
  };
  struct Stage;
  struct Player;

  void begin_episode(int n);
  void throw_if_idle() const;
  void step_world(int n, int32_t action);
  bool go_on(int n);
  bool asks_on(int n);
  void take_again(Stage& stage) const;
  void observe(int n);
  Observation slice(int n);
  void look_at(Observation& sight, int n, const Tensors& tensors, int32_t filled) const;
  int64_t window() const { return int64_t{shape_.rows} * shape_.row_features; }
  void enter(Player& player, int32_t course);
  int32_t draw_course(const Rng& rng) const;

  std::vector<Course> courses_;
  BasicBatchConfig<T> config_;
  TaskShape shape_;
  std::string signature_;             // of both
  std::unique_ptr<HugePages> pages_;  // of all worlds
  std::pmr::vector<float> jobs_;
  std::pmr::vector<uint8_t> mask_;
  std::atomic<bool> idle_ = false;  // some world finds nothing to ask
  std::vector<std::unique_ptr<Player>> players_;
  std::unique_ptr<ThreadPool> pool_;
  std::vector<float> cluster_, prior_, reward_, dt_s_, final_jobs_, final_cluster_;
  std::vector<uint8_t> hints_;
  std::vector<int32_t> rows_, slots_, suggested_, final_rows_;
  std::vector<Ending> ending_;
  Tensors at_{}, next_{};  // where the present and the next observations lie
};

using BatchEnv = BasicBatchEnv<Dispatch>;
using JointEnv = BasicBatchEnv<JointTask>;
using SelectEnv = BasicBatchEnv<Select>;
using RowEnv = BasicBatchEnv<RowPlay>;

}  // namespace yard
