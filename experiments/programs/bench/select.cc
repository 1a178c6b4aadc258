// Decisions per second of the task `select`, which rewrites 128 jobs x 8 features and a mask each
// time: into one tensor, or into a rollout of 128 steps. The reference is writing these bytes alone
// in the same run and order of environments.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "env/base/core/rng.h"
#include "env/base/os/huge_pages.h"
#include "env/base/text/text.h"
#include "env/batch/batch_env.h"
#include "experiments/programs/bench/bench.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/scenario/scenario.h"

namespace yard::bench {
namespace {

constexpr int kWorlds = 64, kRollout = 128;
constexpr size_t kJobFloats = size_t{Select::kJobs} * Select::kJobFeatures;

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
        cluster(static_cast<size_t>(steps) * kWorlds * Select::kClusterFeatures, &pages),
        mask(static_cast<size_t>(steps) * kWorlds * Select::kActions, &pages) {}

  void bind_buffers(SelectEnv& env, int step) {
    const auto at = static_cast<size_t>(step % steps) * kWorlds;
    env.bind_buffers(jobs.data() + at * kJobFloats, cluster.data() + at * Select::kClusterFeatures,
                     mask.data() + at * Select::kActions);
  }

  // Writes the same number of bytes to the same places.
  void write_bytes(int step) {
    const auto at = static_cast<size_t>(step % steps) * kWorlds;
    for (size_t n = at; n < at + kWorlds; ++n) {
      std::memset(jobs.data() + n * kJobFloats, step, kJobFloats * sizeof(float));
      std::memset(cluster.data() + n * Select::kClusterFeatures, step,
                  Select::kClusterFeatures * sizeof(float));
      std::memset(mask.data() + n * Select::kActions, step & 1, Select::kActions);
    }
  }

  int steps;
  HugePages pages;
  std::pmr::vector<float> jobs, cluster;
  std::pmr::vector<uint8_t> mask;
};

// Draws a uniformly random legal action for each environment.
void choose(const SelectEnv& env, Rng& rng, std::vector<int32_t>& actions) {
  for (size_t n = 0; n < actions.size(); ++n) {
    const uint8_t* mask = env.mask().data() + n * Select::kActions;
    const auto rows = static_cast<uint32_t>(env.rows()[n]);
    uint32_t a;
    do {  // most rows are legal, so draw until one is
      a = rng.below(rows + 1);
    } while (!mask[a == rows ? Select::kNothing : a]);
    actions[n] = a == rows ? Select::kNothing : static_cast<int32_t>(a);
  }
}

struct Speed {
  double per_s;          // decisions
  double rows, waiting;  // means per decision
};

Speed measure(const Scenario& scenario, const Case& c, int threads, Tensors& tensors) {
  BasicBatchConfig<Select> config;
  config.worlds = kWorlds;
  config.threads = threads;
  config.episode_jobs = c.episode_jobs;
  config.prior = false;
  SelectEnv env(scenario.fixed, scenario.workload, config);
  env.reset();
  Rng rng(7);
  std::vector<int32_t> actions(kWorlds);
  int step = 0;
  double rows = 0, waiting = 0;
  const auto run = [&](int steps) {
    double spent = 0;
    for (int i = 0; i < steps; ++i) {
      choose(env, rng, actions);
      tensors.bind_buffers(env, step++);
      spent += seconds([&] { env.step(actions); });
      for (int n = 0; n < kWorlds; ++n) {
        rows += env.rows()[static_cast<size_t>(n)];
        waiting += env.num_waiting(n);
      }
    }
    return spent;
  };
  run(3'000);  // warm-up to the middle of episodes
  rows = waiting = 0;
  // Each stretch is repeated from the same saved state, bit for bit; the fastest repetition counts.
  constexpr int kStretches = 16, kTimes = 6, kSteps = 256;
  double best = 0;
  for (int i = 0; i < kStretches; ++i) {
    const std::vector<std::byte> worlds = env.save();
    const Rng before = rng;
    double quickest = 1e300;
    for (int k = 0; k < kTimes; ++k) {
      if (k > 0) {
        env.restore(worlds);
        rng = before;
      }
      quickest = std::min(quickest, run(kSteps));
    }
    best += quickest;
  }
  const double decisions = 1.0 * kStretches * kSteps * kWorlds;
  return {decisions / best, rows / (decisions * kTimes), waiting / (decisions * kTimes)};
}

double writes_per_s(Tensors& tensors) {
  constexpr int kSteps = 1024;
  const double best = best_seconds(8, [&] {
    for (int i = 0; i < kSteps; ++i) tensors.write_bytes(i);
  });
  return 1.0 * kSteps * kWorlds / best;
}

Scenario workload(double load) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.cluster = "8x8";
  options.generate_jobs = 20'000;
  options.trace_settings.overlay("load=" + shortest(load), "bench");
  return load_scenario(options);
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
  const Speed one = measure(scenario, c, 1, tensors), two = measure(scenario, c, 2, tensors);
  results.push_back({{"name", std::string(c.name) + "_2_threads_busy"},
                     {"value", two.per_s},
                     {"unit", "decisions/s"},
                     {"ratio", two.per_s / one.per_s},
                     {"against", "one thread on an equally busy machine"},
                     {"better", "higher"}});
}

// Time to reset an environment, as a share of the time of an episode.
void bench_reset(Json& results, const Scenario& scenario) {
  BasicBatchConfig<Select> config;
  config.worlds = kWorlds;
  config.episode_jobs = 256;
  config.prior = false;
  config.wait_at_end = true;
  SelectEnv env(scenario.fixed, scenario.workload, config);
  const double begin = best_seconds(20, [&] { env.reset(); });
  Rng rng(7);
  std::vector<int32_t> actions(kWorlds);
  double play = 0;
  for (bool all_wait = false; !all_wait;) {
    choose(env, rng, actions);
    play += seconds([&] { env.step(actions); });
    all_wait = true;
    for (int n = 0; n < kWorlds; ++n) all_wait = all_wait && env.is_done(n);
  }
  results.push_back({{"name", "select_reset"},
                     {"value", 1e6 * begin / kWorlds},
                     {"unit", "us"},
                     {"ratio", begin / (begin + play)},
                     {"against", "an episode of 256 jobs"},
                     {"better", "lower"}});
}

}  // namespace

void bench_select(Json& results) {
  const Scenario usual = workload(0.8), crowded = workload(10);
  for (const Case& c :
       {Case{"select_load_0.8", 0.8, 256, false}, Case{"select_full_window", 10, 640, false},
        Case{"select_rollout_load_0.8", 0.8, 256, true},
        Case{"select_rollout_full_window", 10, 640, true}}) {
    const Scenario& scenario = c.load < 1 ? usual : crowded;
    Tensors tensors(c.rollout);
    const Speed one = measure(scenario, c, 1, tensors);
    const double writes = writes_per_s(tensors);
    results.push_back({{"name", c.name},
                       {"value", one.per_s},
                       {"unit", "decisions/s"},
                       {"ratio", one.per_s / writes},
                       {"against", "only writing the same bytes"},
                       {"better", "higher"},
                       {"detail",
                        {{"worlds", kWorlds},
                         {"threads", 1},
                         {"mean_rows", one.rows},
                         {"mean_waiting", one.waiting},
                         {"writes_per_s", writes}}}});
    const Speed two = measure(scenario, c, 2, tensors);
    results.push_back({{"name", std::string(c.name) + "_2_threads"},
                       {"value", two.per_s},
                       {"unit", "decisions/s"},
                       {"ratio", two.per_s / one.per_s},
                       {"against", "one thread"},
                       {"better", "higher"}});
    if (c.rollout && c.load > 1) bench_busy(results, scenario, c);
  }
  bench_reset(results, usual);
}

}  // namespace yard::bench
