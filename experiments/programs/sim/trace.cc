// trace describe|convert|generate: describes, converts and generates workloads.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/trace/core/notices.h"
#include "env/trace/formats/load_trace.h"
#include "env/trace/formats/native.h"
#include "env/trace/profiles/fill_run_times.h"
#include "experiments/cli/command.h"
#include "experiments/programs/sim/trace_generate.h"
#include "experiments/report/describe_trace.h"
#include "experiments/stats/number_text.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string trace, format, columns, out;
  std::vector<std::string> set;
  LoadOptions load;
  RunTimeFiles measured;
  bool json = false;
};

Trace load(Options& options) {
  set_trace_keys(options.set, options.load.settings);
  set_trace_columns(options.columns, options.load.settings);
  if (options.load.jobs > 0 && !is_synthetic(options.trace)) {
    throw InputError("--jobs", "synthetic:NAME, whose jobs it counts", "'" + options.trace + "'");
  }
  options.load.format = options.format;
  Trace trace = load_trace(options.trace, options.load);
  const bool measured = !options.measured.throughputs.empty() || !options.measured.rates.empty();
  if (measured) fill_run_times(trace, options.measured, options.load.skip_unusable);
  return trace;
}

int describe_trace(Options& options) {
  const Json out = describe_json(load(options), options.load.cluster_gpus);
  if (options.json) {
    std::puts(out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    print_description(out);
  }
  return 0;
}

int write_trace(Options& options) {
  const Trace trace = load(options);
  write_file_atomic(options.out, to_native_text(trace, options.out));
  for (const Skipped& entry : trace.skipped) {
    std::fprintf(stderr, "%s\n", left_out_text(entry).c_str());
  }
  for (const Skipped& entry : trace.notices) {
    std::fprintf(stderr, "note: %s\n", note_text(entry).c_str());
  }
  std::fprintf(stderr, "%s written to %s\n", counted_text(std::ssize(trace.jobs), "job").c_str(),
               options.out.c_str());
  return 0;
}

int run_trace(CLI::App& app, int argc, char** argv) {
  Options options;
  TraceGenerateCommand generate_options;
  app.require_subcommand(1);
  auto* describe = app.add_subcommand("describe", "says what a workload holds");
  auto* convert = app.add_subcommand(
      "convert", "writes it in Yardmaster's own form: CSV, or JSONL where the name ends so");
  auto* generate = app.add_subcommand(
      "generate", "writes what a generator makes, or the likeness of a trace, in that form");
  for (CLI::App* command : {describe, convert}) {
    command->add_option("trace", options.trace, "file (.gz too), or synthetic:NAME")->required();
    command->add_option("--format", options.format, "recognised where it is not named");
    command->add_option("--columns", options.columns, kColumnsHelp)->default_str("");
    command
        ->add_option("--throughputs", options.measured.throughputs,
                     "measured steps a second, for run times that a trace lacks")
        ->default_str("");
    command->add_option("--rates", options.measured.rates, "measured goodputs, likewise")
        ->default_str("");
    command->add_flag("--skip-unusable", options.load.skip_unusable,
                      "count rows that cannot be used instead of refusing the file");
    command->add_option("--seed", options.load.seed, "of the generator")
        ->check(whole_number<uint64_t>(0));
    command->add_option("--jobs", options.load.jobs, "how many jobs a generator makes")
        ->default_str("")
        ->check(whole_number(1));
    command->add_option("--cluster-gpus", options.load.cluster_gpus,
                        "GPUs of the cluster that the load refers to");
    command->add_option("--set", options.set, "key=value for the format or generator");
    if (command == describe) {
      command->add_flag("--json", options.json, "print one JSON document");
    } else {
      command->add_option("--out", options.out, "the file: .csv or .jsonl")->required();
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
