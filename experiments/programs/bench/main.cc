// `bench [NAME...] [--json]`: how fast the parts are, each beside something measured in the same
// run, so that a noisy machine spoils no ratio; only replay is set beside a published figure. PPO
// and the served decision are measured by the programs that link LibTorch and gRPC.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "env/base/error.h"
#include "env/base/program.h"
#include "env/base/rng.h"
#include "env/base/text.h"
#include "env/batch/batch_env.h"
#include "env/sim/pacing.h"
#include "experiments/replay.h"
#include "experiments/scenario.h"
#include "policies/learned/job_scorer.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The best of several runs: what the machine can do when nobody disturbs it.
double best_seconds(int runs, const std::function<void()>& work) {
  double best = 1e300;
  for (int i = 0; i < runs; ++i) best = std::min(best, seconds(work));
  return best;
}

// A copy of 64 MB: what this machine's memory takes, now.
double copy_gb_per_s() {
  std::vector<char> from(64 << 20, 1), to(64 << 20);
  const double s = best_seconds(5, [&] { std::memcpy(to.data(), from.data(), from.size()); });
  return 1e-9 * static_cast<double>(from.size()) / s;
}

// --- replay
// ---------------------------------------------------------------------------------------

// CPU seconds that the published simulator took for the same trace and fifo (docs/benchmarks.md).
constexpr double kPublishedSeconds = 24.4;

void bench_replay(Json& results) {
  ScenarioOptions options;
  options.trace = "synthetic:xv";
  options.generate_jobs = 10'000;
  options.cluster = "8x8";
  const Scenario scenario = load_scenario(options);
  const std::array<std::array<const char*, 2>, 3> cases = {
      {{"fifo", "yarn"}, {"shortest", "count"}, {"dlas", "count"}}};
  for (const auto& [policy, placement] : cases) {
    RunOptions run;
    run.rules = "tiresias";
    run.placement = placement;
    const Contestant contestant = prepare(policy, run);
    double best = 1e300;
    int64_t events = 0;
    for (int i = 0; i < 9; ++i) {
      const Run done = run_prepared(scenario, contestant, run);
      best = std::min(best, done.wall_s);
      events = done.outcome.events;
    }
    results.push_back({{"name", std::string("replay_xv10k_") + policy},
                       {"value", best},
                       {"unit", "s"},
                       {"ratio", kPublishedSeconds / best},
                       {"against", "24.4 CPU s, published for the Tiresias simulator, fifo"},
                       {"better", "lower"},
                       {"detail",
                        {{"events", events},
                         {"events_per_s", static_cast<double>(events) / best},
                         {"bound_by", "pointer chasing in the first-level cache"}}}});
  }
}

// --- environment
// ----------------------------------------------------------------------------------

// A uniformly random legal action a world.
class RandomActor {
 public:
  explicit RandomActor(int worlds) : rng_(7), action_(static_cast<size_t>(worlds)) {}

  std::span<const int32_t> choose(const BatchEnv& env) {
    for (size_t n = 0; n < action_.size(); ++n) {
      const uint8_t* mask = env.mask().data() + n * Dispatch::kActions;
      const auto rows = static_cast<uint32_t>(env.rows()[n]);
      // Rows are few and mostly legal: draw until one is.
      uint32_t a;
      do {
        a = rng_.below(rows + 1);
      } while (!mask[a == rows ? Dispatch::kNothing : a]);
      action_[n] = a == rows ? Dispatch::kNothing : static_cast<int32_t>(a);
    }
    return action_;
  }

 private:
  Rng rng_;
  std::vector<int32_t> action_;
};

struct EnvCase {
  const char* name;
  double load;
  int episode_jobs;
  bool preempt, prior;
};

void bench_env(Json& results, const EnvCase& c, double copy_gbps) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.cluster = "8x8";
  options.generate_jobs = 20'000;
  options.trace_settings.overlay("load=" + shortest(c.load), "bench");
  const Scenario scenario = load_scenario(options);
  BatchConfig config;
  config.worlds = 64;
  config.episode_jobs = c.episode_jobs;
  config.prior = c.prior;
  config.task.preempt = c.preempt;
  BatchEnv env(scenario.fixed, scenario.workload, config);
  env.reset();
  RandomActor actor(config.worlds);
  int64_t rows = 0, waiting = 0, decisions = 0;
  const auto run = [&](int steps) {
    double spent = 0;
    for (int i = 0; i < steps; ++i) {
      const auto action = actor.choose(env);
      spent += seconds([&] { env.step(action); });
      for (int n = 0; n < config.worlds; ++n) {
        rows += env.rows()[static_cast<size_t>(n)];
        waiting += env.num_waiting(n);
      }
    }
    decisions += int64_t{steps} * config.worlds;
    return spent;
  };
  run(3'000);  // into the middle of episodes
  rows = waiting = decisions = 0;
  // Every stretch is played several times over, the same to the last bit; its quickest counts.
  constexpr int kStretches = 24, kTimes = 6, kSteps = 250;
  double best = 0, mean = 0;
  for (int i = 0; i < kStretches; ++i) {
    const std::vector<std::byte> worlds = env.save();
    const RandomActor before = actor;
    double quickest = 1e300;
    for (int k = 0; k < kTimes; ++k) {
      if (k > 0) {
        env.restore(worlds);
        actor = before;
      }
      const double spent = run(kSteps);
      quickest = std::min(quickest, spent);
      mean += spent / kTimes;
    }
    best += quickest;
  }
  const double played = 1.0 * kStretches * kSteps * config.worlds;
  const double rate = played / best;
  const double bytes =
      sizeof(float) * (Dispatch::kJobs * Dispatch::kJobFeatures + Dispatch::kClusterFeatures +
                       (c.prior ? Dispatch::kActions : 0)) +
      Dispatch::kActions;
  results.push_back(
      {{"name", c.name},
       {"value", rate},
       {"unit", "decisions/s"},
       {"ratio", rate * bytes * 1e-9 / copy_gbps},
       {"against", "bytes of observations written a second over those of a large memcpy"},
       {"better", "higher"},
       {"detail",
        {{"worlds", config.worlds},
         {"threads", 1},
         {"load", c.load},
         {"episode_jobs", c.episode_jobs},
         {"preempt", c.preempt},
         {"prior", c.prior},
         {"mean", played / mean},
         {"mean_rows", static_cast<double>(rows) / static_cast<double>(decisions)},
         {"mean_waiting", static_cast<double>(waiting) / static_cast<double>(decisions)},
         {"observation_bytes", bytes}}}});
}

// --- inference
// ------------------------------------------------------------------------------------

void bench_inference(Json& results) {
  constexpr int kHidden = 32, kRows = 64;
  Rng rng(3);
  Tensors weights;
  for (const auto& [name, shape] : job_scorer_shapes(kHidden)) {
    Tensor& t = weights[name];
    t.shape = shape;
    size_t count = 1;
    for (const int64_t n : shape) count *= static_cast<size_t>(n);
    for (size_t i = 0; i < count; ++i) t.data.push_back(static_cast<float>(rng.normal() * 0.3));
  }
  const JobScorer net(weights, "bench");
  std::vector<float> jobs(size_t{Dispatch::kJobs} * Dispatch::kJobFeatures, 0.5F),
      cluster(Dispatch::kClusterFeatures, 0.5F), prior(Dispatch::kActions, 0),
      logits(Dispatch::kActions);
  std::vector<uint8_t> mask(Dispatch::kActions, 1);
  Dispatch::Observation o{};
  o.jobs = jobs.data();
  o.cluster = cluster.data();
  o.prior = prior.data();
  o.mask = mask.data();
  o.rows = kRows;
  constexpr int kCalls = 2'000;
  const double net_s = best_seconds(5,
                                    [&] {
                                      for (int i = 0; i < kCalls; ++i) net.forward(o, logits);
                                    }) /
                       kCalls;
  // The same products alone, as Eigen does them.
  Eigen::Matrix<float, -1, -1, Eigen::RowMajor> x = Eigen::MatrixXf::Random(kRows, kHidden);
  const Eigen::MatrixXf w1 = Eigen::MatrixXf::Random(Dispatch::kJobFeatures, kHidden);
  const Eigen::MatrixXf w2 = Eigen::MatrixXf::Random(kHidden, kHidden);
  Eigen::Matrix<float, -1, -1, Eigen::RowMajor> in =
      Eigen::MatrixXf::Random(kRows, Dispatch::kJobFeatures);
  const double product_s = best_seconds(5,
                                        [&] {
                                          for (int i = 0; i < kCalls; ++i) {
                                            x.noalias() = in * w1;
                                            x = (x * w2).eval();
                                            in(0, 0) =
                                                x(0, 0) * 1e-9F;  // so that no call can be left out
                                          }
                                        }) /
                           kCalls;
  results.push_back(
      {{"name", "native_inference"},
       {"value", 1e6 * net_s},
       {"unit", "us"},
       {"ratio", net_s / product_s},
       {"against", "its two matrix products alone"},
       {"better", "lower"},
       {"detail", {{"rows", kRows}, {"hidden", kHidden}, {"decisions_per_s", 1 / net_s}}}});
}

// --- other programs
// -------------------------------------------------------------------------------

std::string folder_of_this_program() {
  std::array<char, 4096> path{};
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string text(path.data(), n > 0 ? static_cast<size_t>(n) : 0);
  return text.substr(0, text.rfind('/') + 1);
}

// Adds the results of a program beside this one; a build without it is said so.
void bench_child(Json& results, const std::string& program, const std::string& command) {
  const std::string path = folder_of_this_program() + program;
  if (access(path.c_str(), X_OK) != 0) {
    std::fprintf(stderr, "%s: not in this build, skipped\n", program.c_str());
    return;
  }
  FILE* pipe = popen(("'" + path + "' " + command).c_str(), "r");
  if (pipe == nullptr) throw RunError("cannot start " + program);
  std::string out;
  std::array<char, 4096> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    out.append(buffer.data(), n);
  if (pclose(pipe) != 0) throw RunError(program + " " + command + " failed");
  const Json document = Json::parse(out);
  for (const Json& r : document.at("results")) results.push_back(r);
}

std::string processor() {
  FILE* file = std::fopen("/proc/cpuinfo", "r");
  std::array<char, 512> line{};
  std::string name = "unknown";
  while (file != nullptr && std::fgets(line.data(), line.size(), file) != nullptr) {
    if (std::strncmp(line.data(), "model name", 10) != 0) continue;
    name = trim(std::string_view(line.data()).substr(std::string_view(line.data()).find(':') + 1));
    break;
  }
  if (file != nullptr) std::fclose(file);
  return name;
}

int run(int argc, char** argv) {
  std::vector<std::string> names;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "bench") continue;
    if (arg == "--json") {
      json = true;
    } else if (arg == "--help" || arg == "-h") {
      std::puts(
          "usage: yardmaster bench [NAME...] [--json], NAME one of: replay, env, inference, ppo, "
          "served; without a name: all");
      return 0;
    } else {
      names.push_back(arg);
    }
  }
  const std::vector<std::string> known = {"replay", "env", "inference", "ppo", "served"};
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw InputError("bench", "one of: " + join(known), "'" + name + "'");
    }
  }
  const auto wanted = [&](const char* name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  Json results = Json::array();
  if (wanted("replay")) bench_replay(results);
  if (wanted("env")) {
    const double gbps = copy_gb_per_s();
    for (const EnvCase& c : {EnvCase{"env_load_0.8", 0.8, 256, false, false},
                             EnvCase{"env_prior_load_0.8", 0.8, 256, false, true},
                             EnvCase{"env_preempt_prior_load_0.8", 0.8, 256, true, true},
                             EnvCase{"env_full_window", 10, 640, false, false}}) {
      bench_env(results, c, gbps);
    }
  }
  if (wanted("inference")) bench_inference(results);
  if (wanted("ppo")) bench_child(results, "yardmaster-train", "bench-ppo");
  if (wanted("served")) bench_child(results, "yardmaster-serve", "bench-served --json");
  const Json out = {
      {"machine", {{"processor", processor()}, {"cores", sysconf(_SC_NPROCESSORS_ONLN)}}},
      {"results", results}};
  if (json) {
    std::puts(out.dump(2).c_str());
    return 0;
  }
  for (const Json& r : results) {
    const std::string ratio =
        r.contains("ratio")
            ? fmt::format("{:.4g} x {}", r["ratio"].get<double>(), r["against"].get<std::string>())
            : "";
    std::puts(fmt::format("{:24} {:>14.6g} {:12} {}", r["name"].get<std::string>(),
                          r["value"].get<double>(), r["unit"].get<std::string>(), ratio)
                  .c_str());
  }
  return 0;
}

}  // namespace
}  // namespace yard

int main(int argc, char** argv) { return yard::run_main(argc, argv, yard::run); }
