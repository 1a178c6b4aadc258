// `bench [NAME...] [--json]`: benchmarks. Each is relative to a reference measured in the same run,
// so that ratios are robust on noisy machines; only replay is relative to a published figure. PPO
// and the served decision are measured by the programs which link LibTorch and gRPC.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "env/base/core/error.h"
#include "env/base/os/program.h"
#include "env/base/text/print.h"
#include "env/base/text/text.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/bench/bench.h"
#include "experiments/replay/load_scenario.h"

namespace yard::bench {

double seconds(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double best_seconds(int runs, const std::function<void()>& work) {
  double best = 1e300;
  for (int i = 0; i < runs; ++i) best = std::min(best, seconds(work));
  return best;
}

std::string folder_of_this_program() {
  std::array<char, 4096> path{};
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string text(path.data(), n > 0 ? static_cast<size_t>(n) : 0);
  return text.substr(0, text.rfind('/') + 1);
}

Json& add_result(Json& results, const std::string& name, double value, const char* unit,
                 double ratio, const std::string& against, const char* better) {
  results.push_back({{"name", name},
                     {"value", value},
                     {"unit", unit},
                     {"ratio", ratio},
                     {"against", against},
                     {"better", better}});
  return results.back();
}

Scenario generated_habit_scenario(const std::string& cluster, int jobs,
                                  const std::vector<std::string>& settings) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.cluster = cluster;
  options.generate_jobs = jobs;
  for (const std::string& setting : settings) options.trace_settings.overlay(setting, "bench");
  return load_scenario(options);
}

void run_bench_program(Json& results, const std::string& program, const std::string& command) {
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

namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    return std::string(trim(std::string_view(line).substr(line.find(':') + 1)));
  }
  return "unknown";
}

struct Bench {
  const char* name;
  const char* about;
  void (*run)(Json&);
  bool always;  // also runs if no name is given
};

void bench_ppo(Json& results) { run_bench_program(results, "yardmaster-train", "bench-ppo"); }
void bench_served(Json& results) {
  run_bench_program(results, "yardmaster-serve", "bench-served --json");
}

constexpr std::array<Bench, 11> kBenches = {
    {{"replay", "10,000 jobs under the rules of Tiresias' simulator", bench_replay, true},
     {"scale", "100,000 jobs on 10,000 GPUs", bench_100k_jobs, true},
     {"million", "1,000,000 jobs on 100,000 GPUs (a minute)", bench_million_jobs, false},
     {"growth", "time per event as jobs and GPUs grow", bench_time_per_event_growth, false},
     {"select", "decisions per second of the task `select`", bench_select_environment, true},
     {"env", "decisions per second of the dispatcher's task", bench_dispatcher_environment, true},
     {"joint", "decision time of the policy `pilot`", bench_pilot_decision_time, true},
     {"memory", "bytes of simulator states and environments", bench_memory, true},
     {"inference", "native inference of a network", bench_inference, true},
     {"ppo", "training samples per second", bench_ppo, true},
     {"served", "latency of a served decision", bench_served, true}}};

int run(int argc, char** argv) {
  std::vector<std::string> names, known;
  std::string about = "Run benchmarks, with ratios within one run.";
  for (const Bench& b : kBenches) {
    known.push_back(b.name);
    about += fmt::format("\n  {:10} {}", b.name, b.about);
  }
  bool json = false;
  CLI::App app(about, "bench");
  app.option_defaults()->group("Output");
  app.add_option("name", names, "benchmarks to run (default: all that finish within seconds)")
      ->check(one_of(known));
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster bench memory inference"});
  const int skipped = argc > 1 && std::strcmp(argv[1], "bench") == 0 ? 1 : 0;
  if (!parse_arguments(app, argc - skipped, argv + skipped)) return 0;
  Json results = Json::array();
  for (const Bench& b : kBenches) {
    const bool named = std::find(names.begin(), names.end(), b.name) != names.end();
    if (named || (names.empty() && b.always)) b.run(results);
  }
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
    print_to(stdout, "{:36} {:>12.6g} {:12} {}\n", r["name"].get<std::string>(),
             r["value"].get<double>(), r["unit"].get<std::string>(), ratio);
  }
  return 0;
}

}  // namespace
}  // namespace yard::bench

int main(int argc, char** argv) { return yard::run_main(argc, argv, yard::bench::run); }
