// Decisions per second of the task `select`, which rewrites 128 jobs x 8 features and a mask each
// time: into one tensor, or into a rollout of 128 steps. The reference is writing these bytes alone
// in the same run and order of environments.
#include <cstring>
#include <thread>

#include "env/base/os/huge_pages.h"
#include "env/batch/batch_env.h"
#include "experiments/programs/bench/play.h"

namespace yard::bench {
namespace {

constexpr int kWorlds = 64, kRollout = 128;
constexpr size_t kJobFloats = size_t{JobSelectionTask::kJobs} * JobSelectionTask::kJobFeatures;

struct Case {
  const char* name;
  double load;
  int episode_jobs;
  bool rollout;
};

// The tensors which receive observations: those of one step, or of the steps of a rollout in turn.
struct Tensors {
  explicit Tensors(bool rollout)
      : steps(rollout ? kRollout : 1),
        jobs(static_cast<size_t>(steps) * kWorlds * kJobFloats, &pages),
        cluster(static_cast<size_t>(steps) * kWorlds * JobSelectionTask::kClusterFeatures, &pages),
        mask(static_cast<size_t>(steps) * kWorlds * JobSelectionTask::kActions, &pages) {}

  void bind_buffers(SelectEnv& env, int step) {
    const auto at = static_cast<size_t>(step % steps) * kWorlds;
    env.bind_buffers(jobs.data() + at * kJobFloats,
                     cluster.data() + at * JobSelectionTask::kClusterFeatures,
                     mask.data() + at * JobSelectionTask::kActions);
  }

  void write_bytes(int step) {
    const auto at = static_cast<size_t>(step % steps) * kWorlds;
    for (size_t n = at; n < at + kWorlds; ++n) {
      std::memset(jobs.data() + n * kJobFloats, step, kJobFloats * sizeof(float));
      std::memset(cluster.data() + n * JobSelectionTask::kClusterFeatures, step,
                  JobSelectionTask::kClusterFeatures * sizeof(float));
      std::memset(mask.data() + n * JobSelectionTask::kActions, step & 1,
                  JobSelectionTask::kActions);
    }
  }

  int steps;
  HugePages pages;
  std::pmr::vector<float> jobs, cluster;
  std::pmr::vector<uint8_t> mask;
};

EnvSpeed measure(const Scenario& scenario, const Case& c, int threads, Tensors& tensors) {
  BasicBatchConfig<JobSelectionTask> config;
  config.worlds = kWorlds;
  config.threads = threads;
  config.episode_jobs = c.episode_jobs;
  config.prior = false;
  SelectEnv env(scenario.fixed, scenario.workload, config);
  int step = 0;
  return measure_env_speed(env, kWorlds, JobSelectionTask::kNothing, 16, 256,
                           [&] { tensors.bind_buffers(env, step++); });
}

double writes_per_s(Tensors& tensors) {
  constexpr int kSteps = 1024;
  const double best = best_seconds(8, [&] {
    for (int i = 0; i < kSteps; ++i) tensors.write_bytes(i);
  });
  return 1.0 * kSteps * kWorlds / best;
}

// Busy-waiting threads, one fewer than there are cores, so that two other threads cannot each have
// a core.
class BusyMachine {
 public:
  BusyMachine() {
    const unsigned threads = std::max(2U, std::thread::hardware_concurrency()) - 1;
    for (unsigned i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        while (!over_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~BusyMachine() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  BusyMachine(const BusyMachine&) = delete;
  BusyMachine& operator=(const BusyMachine&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

void bench_busy(Json& results, const Scenario& scenario, const Case& c) {
  Tensors tensors(c.rollout);
  const BusyMachine busy;
  const EnvSpeed one = measure(scenario, c, 1, tensors), two = measure(scenario, c, 2, tensors);
  add_result(results, std::string(c.name) + "_2_threads_busy", two.best_per_s, "decisions/s",
             two.best_per_s / one.best_per_s, "one thread on an equally busy machine", "higher");
}

// Time to reset an environment, as a share of the time of an episode.
void bench_reset(Json& results, const Scenario& scenario) {
  BasicBatchConfig<JobSelectionTask> config;
  config.worlds = kWorlds;
  config.episode_jobs = 256;
  config.prior = false;
  config.wait_at_end = true;
  SelectEnv env(scenario.fixed, scenario.workload, config);
  const double begin = best_seconds(20, [&] { env.reset(); });
  Rng rng(7);
  std::vector<int32_t> actions(kWorlds);
  double played_s = 0;
  for (bool all_wait = false; !all_wait;) {
    draw_legal_actions(env, JobSelectionTask::kNothing, rng, actions);
    played_s += seconds([&] { env.step(actions); });
    all_wait = true;
    for (int n = 0; n < kWorlds; ++n) all_wait = all_wait && env.is_done(n);
  }
  add_result(results, "select_reset", 1e6 * begin / kWorlds, "us", begin / (begin + played_s),
             "an episode of 256 jobs");
}

}  // namespace

void bench_select_environment(Json& results) {
  const Scenario usual = generated_habit_scenario("8x8", 20'000, {"load=0.8"});
  const Scenario crowded = generated_habit_scenario("8x8", 20'000, {"load=10"});
  for (const Case& c :
       {Case{"select_load_0.8", 0.8, 256, false}, Case{"select_full_window", 10, 640, false},
        Case{"select_rollout_load_0.8", 0.8, 256, true},
        Case{"select_rollout_full_window", 10, 640, true}}) {
    const Scenario& scenario = c.load < 1 ? usual : crowded;
    Tensors tensors(c.rollout);
    const EnvSpeed one = measure(scenario, c, 1, tensors);
    const double writes = writes_per_s(tensors);
    add_result(results, c.name, one.best_per_s, "decisions/s", one.best_per_s / writes,
               "only writing the same bytes", "higher")["detail"] = {{"worlds", kWorlds},
                                                                     {"threads", 1},
                                                                     {"mean_rows", one.rows},
                                                                     {"mean_waiting", one.waiting},
                                                                     {"writes_per_s", writes}};
    const EnvSpeed two = measure(scenario, c, 2, tensors);
    add_result(results, std::string(c.name) + "_2_threads", two.best_per_s, "decisions/s",
               two.best_per_s / one.best_per_s, "one thread", "higher");
    if (c.rollout && c.load > 1) bench_busy(results, scenario, c);
  }
  bench_reset(results, usual);
}

}  // namespace yard::bench
