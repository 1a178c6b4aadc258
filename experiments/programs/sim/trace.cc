// trace describe|convert|generate: describes, converts and generates workloads.
#include <cstdio>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/trace/core/notices.h"
#include "env/trace/formats/native.h"
#include "env/trace/profiles/fill_run_times.h"
#include "experiments/cli/command.h"
#include "experiments/cli/common_options.h"
#include "experiments/programs/sim/trace_generate.h"
#include "experiments/report/describe_trace.h"
#include "experiments/stats/number_text.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

struct TraceArguments {
  std::string trace, format, columns, out;
  std::vector<std::string> set;
  LoadOptions load;
  RunTimeFiles measured;
  bool json = false;
};

Trace load(TraceArguments& options) {
  set_trace_keys(options.set, options.load.settings);
  set_trace_columns(options.columns, options.load.settings);
  if (options.load.jobs > 0 && !is_synthetic(options.trace)) {
    throw InputError("--jobs", "a trace synthetic:NAME", "'" + options.trace + "'");
  }
  options.load.format = options.format;
  Trace trace = load_trace(options.trace, options.load);
  const bool measured = !options.measured.throughputs.empty() || !options.measured.rates.empty();
  if (measured) fill_run_times(trace, options.measured, options.load.skip_unusable);
  return trace;
}

int describe_trace(TraceArguments& options) {
  const Json out = describe_json(load(options), options.load.cluster_gpus);
  if (options.json) {
    std::fputs(json_text(out).c_str(), stdout);
  } else {
    print_description(out);
  }
  return 0;
}

int write_trace(TraceArguments& options) {
  const Trace trace = load(options);
  write_file_atomic(options.out, to_native_text(trace, options.out));
  for (const CountedRows& entry : trace.skipped) {
    std::fprintf(stderr, "%s\n", format_left_out_rows(entry).c_str());
  }
  for (const CountedRows& entry : trace.notices) {
    std::fprintf(stderr, "note: %s\n", format_notice(entry).c_str());
  }
  std::fprintf(stderr, "%s written to %s\n",
               pluralised_count_text(std::ssize(trace.jobs), "job").c_str(), options.out.c_str());
  return 0;
}

int run_trace(CLI::App& app, int argc, char** argv) {
  TraceArguments options;
  TraceGenerateCommand generate_options;
  app.require_subcommand(1);
  auto* describe = app.add_subcommand("describe", "print statistics of a workload");
  auto* convert = app.add_subcommand(
      "convert",
      "write a workload in Yardmaster's own format: JSONL if the name ends in .jsonl, else CSV");
  auto* generate = app.add_subcommand(
      "generate", "write a synthetic workload, from a generator or from a model fitted to a trace");
  for (CLI::App* command : {describe, convert}) {
    command->option_defaults()->group("Workload");
    command->add_option("trace", options.trace, "trace file, plain or .gz, or synthetic:NAME")
        ->type_name(kTraceType)
        ->required();
    command->add_option("--format", options.format, "format of the trace (default: detected)")
        ->type_name(kFormatType);
    command->add_option("--columns", options.columns, kColumnsHelp)->default_str("");
    command
        ->add_option("--throughputs", options.measured.throughputs,
                     "file of measured steps per second, for run times missing from the trace")
        ->default_str("");
    command
        ->add_option("--rates", options.measured.rates,
                     "file of measured goodputs, for run times missing from the trace")
        ->default_str("");
    command->add_flag("--skip-unusable", options.load.skip_unusable,
                      "skip and count unusable rows instead of refusing the file");
    command->add_option("--seed", options.load.seed, "seed of the generator")
        ->check(whole_number<uint64_t>(0));
    command->add_option("--jobs", options.load.jobs, "number of jobs of a synthetic trace")
        ->default_str("")
        ->check(whole_number(1));
    command
        ->add_option("--cluster-gpus", options.load.cluster_gpus,
                     "size in GPUs of the cluster to which the load refers")
        ->default_str("")
        ->check(whole_number(1));
    command->add_option("--set", options.set, "key=value: a setting of the format or generator");
    command->option_defaults()->group("Output");
    if (command == describe) {
      command->add_flag("--json", options.json, "print one JSON document");
    } else {
      command->add_option("--out", options.out, "output file, .csv or .jsonl")->required();
    }
  }
  generate_options.add_to(*generate);
  const std::string example = "yardmaster trace describe synthetic:habits --jobs 1000";
  set_examples(app, {example});
  set_examples(*describe, {example});
  set_examples(*convert, {"yardmaster trace convert synthetic:habits --jobs 1000 --out jobs.csv"});
  if (!parse_arguments(app, argc, argv)) return 0;
  if (generate->parsed()) return generate_options.run();
  return describe->parsed() ? describe_trace(options) : write_trace(options);
}

const Command kTrace{"trace", "Describe, convert and generate workloads.", run_trace};

}  // namespace
}  // namespace yard::sim
