// trace describe|convert|generate: looks at, converts and makes workloads.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "env/base/error.h"
#include "env/base/file.h"
#include "env/base/text.h"
#include "env/trace/own.h"
#include "env/trace/reader.h"
#include "experiments/programs/sim/command.h"
#include "experiments/programs/sim/options.h"
#include "experiments/programs/sim/trace_generate.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string trace, format, out;
  std::vector<std::string> set;
  LoadOptions load;
  bool json = false;
};

Trace load(Options& options) {
  for (const std::string& assignment : options.set) {
    options.load.settings.overlay(assignment, "--set " + assignment);
  }
  options.load.format = options.format;
  return load_trace(options.trace, options.load);
}

Json describe_json(const Trace& trace) {
  std::vector<int64_t> run_us;
  std::map<int32_t, int64_t> by_gpus;
  std::set<std::string_view> users;
  double gpu_s = 0;
  for (const Job& job : trace.jobs) {
    run_us.push_back(job.run_us);
    ++by_gpus[job.gpus];
    if (!job.user.empty()) users.insert(job.user);
    gpu_s += static_cast<double>(job.run_us) / 1e6 * job.gpus;
  }
  std::sort(run_us.begin(), run_us.end());
  const auto at = [&](double share) {
    return seconds_json(
        run_us[static_cast<size_t>(share * static_cast<double>(run_us.size() - 1))]);
  };
  const int64_t span_us = trace.jobs.back().submit_us - trace.jobs.front().submit_us;
  int64_t skipped = 0;
  for (const Skipped& what : trace.skipped) skipped += what.count;
  Json sizes = Json::object();
  for (const auto& [gpus, jobs] : by_gpus) sizes[std::to_string(gpus)] = jobs;
  Json out = {{"source", trace.source},
              {"format", trace.format},
              {"sha256", trace.sha256},
              {"jobs", trace.jobs.size()},
              {"skipped", skipped},
              {"users", users.size()},
              {"first_submit_s", seconds_json(trace.jobs.front().submit_us)},
              {"last_submit_s", seconds_json(trace.jobs.back().submit_us)},
              {"run_s", {{"min", at(0)}, {"p50", at(0.5)}, {"p90", at(0.9)}, {"max", at(1)}}},
              {"gpu_hours", gpu_s / 3600},
              {"mean_gpus_busy", nullptr},
              {"jobs_by_gpus", sizes}};
  if (span_us > 0) out["mean_gpus_busy"] = gpu_s / (static_cast<double>(span_us) / 1e6);
  return out;
}

int describe_trace(Options& options) {
  const Json out = describe_json(load(options));
  if (options.json) {
    std::puts(out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return 0;
  }
  for (const auto& [key, value] : out.items()) {
    const std::string text = value.is_string()
                                 ? value.get<std::string>()
                                 : value.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::printf("%-16s %s\n", key.c_str(), text.c_str());
  }
  return 0;
}

int write_trace(Options& options) {
  const Trace trace = load(options);
  write_file_atomic(options.out, to_own_csv(trace));
  for (const Skipped& what : trace.skipped) {
    std::fprintf(stderr, "left out: %lld x %s, the first at %s\n",
                 static_cast<long long>(what.count), what.reason.c_str(), what.first.c_str());
  }
  std::fprintf(stderr, "%zu jobs written to %s\n", trace.jobs.size(), options.out.c_str());
  return 0;
}

int run_trace(CLI::App& app, int argc, char** argv) {
  Options options;
  GenerateOptionsOfCli generate_options;
  app.require_subcommand(1);
  auto* describe = app.add_subcommand("describe", "says what a workload holds");
  auto* convert = app.add_subcommand("convert", "writes it as Yardmaster's own CSV");
  auto* generate = app.add_subcommand(
      "generate", "writes what a generator makes, or the likeness of a trace, as that CSV");
  for (CLI::App* command : {describe, convert}) {
    command->add_option("trace", options.trace, "file (.gz too), or synthetic:NAME")->required();
    command->add_option("--format", options.format, "recognised where it is not named");
    command->add_flag("--skip-unusable", options.load.skip_unusable,
                      "count rows that cannot be used instead of refusing the file");
    command->add_option("--seed", options.load.seed, "of the generator")
        ->check(CLI::NonNegativeNumber);
    command->add_option("--jobs", options.load.jobs, "how many jobs a generator makes");
    command->add_option("--cluster-gpus", options.load.cluster_gpus,
                        "GPUs of the cluster that a generator's load refers to");
    command->add_option("--set", options.set, "key=value for a generator");
    if (command == describe) {
      command->add_flag("--json", options.json, "print one JSON document");
    } else {
      command->add_option("--out", options.out, "the CSV")->required();
    }
  }
  generate_options.add_to(*generate);
  if (!parse_arguments(app, argc, argv)) return 0;
  if (generate->parsed()) return generate_options.run();
  return describe->parsed() ? describe_trace(options) : write_trace(options);
}

const Command kTrace{"trace", "Looks at, converts and makes workloads.", run_trace};

}  // namespace
}  // namespace yard::sim
