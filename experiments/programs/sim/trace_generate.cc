#include "experiments/programs/sim/trace_generate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "env/trace/core/thin.h"
#include "env/trace/fitted/workload_model.h"
#include "env/trace/formats/native.h"
#include "experiments/cli/command.h"
#include "experiments/evaluate/queue_check.h"
#include "experiments/evaluate/workload_similarity.h"
#include "experiments/programs/sim/option_checks.h"
#include "experiments/report/text_table.h"
#include "experiments/stats/number_text.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string> kCheckPolicies = {"fifo", "greedy", "srtf-history"};
constexpr const char* kTrainingShare = "60%";
constexpr double kDayS = 24 * 3600;

double seconds(int64_t us) { return static_cast<double>(us) * 1e-6; }

// Compares samples with `later`, or with the fitted part if there is none. Throws InputError.
WorkloadSimilarity fidelity_of(const Trace& trace, const TracePart& fitted,
                               const std::optional<TracePart>& later, const WorkloadModel& model,
                               const std::vector<std::vector<Job>>& samples) {
  constexpr int64_t kMondayS = 3 * 24 * 3600;  // 1970 began on a Thursday
  const double shift_s =
      trace.epoch_unix_s ? static_cast<double>(*trace.epoch_unix_s + kMondayS) : 0;
  const auto like = [&](const std::vector<Job>& jobs, double from_s, double to_s) {
    return workload_statistics(jobs, from_s, to_s, shift_s, model.classes);
  };
  const TracePart& real = later ? *later : fitted;
  const double from_s = seconds(real.from_us), to_s = seconds(real.to_us);
  const WorkloadStatistics whole = like(real.jobs, from_s, to_s);
  std::vector<WorkloadStatistics> generated;
  for (const std::vector<Job>& jobs : samples) {
    generated.push_back(workload_statistics(jobs, 0, to_s - from_s, 0, model.classes));
  }
  if (later)
    return compare_workloads(whole, generated, like(fitted.jobs, model.from_s, model.to_s), whole);
  const double middle_s = (from_s + to_s) / 2;
  const auto half = std::ranges::partition_point(
      real.jobs, [&](const Job& job) { return seconds(job.submit_us) < middle_s; });
  require_input(half != real.jobs.begin() && half != real.jobs.end(), trace.source,
                "jobs in both halves of the part", "none in one");
  return compare_workloads(whole, generated, like({real.jobs.begin(), half}, from_s, middle_s),
                           like({half, real.jobs.end()}, middle_s, to_s));
}

Json number(double value) { return std::isnan(value) ? Json(nullptr) : Json(value); }

Json model_json(const WorkloadModel& model, const TracePart& part,
                const std::optional<TracePart>& later) {
  Json quantiles = Json::array();
  for (const SizeClass& one : model.classes) {
    quantiles.push_back({{"most_gpus", one.most_gpus},
                         {"jobs", one.jobs},
                         {"run_time_knots", one.run_s.knots.size()},
                         {"tail_share", 1 - one.run_s.body},
                         {"tail_scale", one.run_s.tail_scale},
                         {"tail_shape", one.run_s.tail_shape}});
  }
  return {{"source", model.source},
          {"sha256", model.sha256},
          {"from_s", model.from_s},
          {"to_s", model.to_s},
          {"jobs", model.jobs},
          {"reaches_test_split", part.in_test || (later && later->in_test)},
          {"owner", model.owner},
          {"profile", model.profile},
          {"calendar", model.calendar},
          {"model_sha256", sha256_hex(to_text(model))},
          {"classes", quantiles}};
}

Json fidelity_json(const WorkloadSimilarity& fidelity, bool later) {
  Json distances = Json::array(), figures = Json::array();
  for (const WorkloadSimilarity::DistanceComparison& d : fidelity.distances) {
    distances.push_back({{"name", d.name},
                         {"kind", d.kind},
                         {"generated", d.generated},
                         {later ? "fitted" : "halves", d.parts}});
  }
  for (const WorkloadSimilarity::ScalarComparison& f : fidelity.figures) {
    const std::string_view name = f.name;
    figures.push_back({{"name", trim(name)},
                       {"real", number(f.real)},
                       {"generated", number(f.generated)},
                       {later ? "fitted" : "first_half", number(f.first_part)}});
    if (!later) figures.back()["second_half"] = number(f.second_part);
  }
  return {{"distances", distances}, {"figures", figures}};
}

Json check_json(const QueueingComparison& check) {
  Json rows = Json::array();
  const auto one = [](const QueueStatistics& f) {
    const OccupancyFigures& o = f.occupancy;
    return Json{{"mean_wait_s", f.mean_wait_s},
                {"mean_jct_s", f.mean_jct_s},
                {"gpus_held", o.held},
                {"gpus_held_sd", o.held_sd},
                {"correlation_1h", number(o.autocorrelation_1h)},
                {"correlation_24h", number(o.autocorrelation_24h)},
                {"jobs_waiting", o.waiting},
                {"queued", o.queued}};
  };
  for (const QueueingComparisonRow& row : check.rows) {
    Json generated = Json::array();
    for (const QueueStatistics& f : row.generated) generated.push_back(one(f));
    rows.push_back({{"policy", row.policy},
                    {"real", one(row.real)},
                    {"generated", generated},
                    {"first_half", one(row.first_half)},
                    {"second_half", one(row.second_half)}});
  }
  return {{"load", check.load},
          {"congestion", check.congestion},
          {"logged", check.logged ? one(*check.logged) : Json(nullptr)},
          {"policies", rows}};
}

void print_model(const Json& model) {
  std::printf(
      "fitted to %s, %.0f to %.0f s, %lld jobs%s\n", model["source"].get<std::string>().c_str(),
      model["from_s"].get<double>(), model["to_s"].get<double>(), model["jobs"].get<long long>(),
      model["reaches_test_split"].get<bool>()
          ? "; WARNING: this part includes the last fifth, which is reserved for final tests"
          : "");
  std::printf("batches by %s; cycle of arrivals: %s%s\n",
              model["owner"] == "nobody" ? "size alone (the trace has no users)"
                                         : model["owner"].get<std::string>().c_str(),
              model["profile"] == "flat" ? "none (the part is shorter than a week)"
                                         : model["profile"].get<std::string>().c_str(),
              model["calendar"].get<bool>() ? "" : ", counted from time 0 of the trace");
}

void print_fidelity(const WorkloadSimilarity& fidelity, bool later, int samples) {
  TextTable distances({"distance of", "", "generated", later ? "fitted" : "halves"}, 2);
  for (const WorkloadSimilarity::DistanceComparison& d : fidelity.distances) {
    distances.row({d.name, d.kind, number_text(d.generated, 3), number_text(d.parts, 3)});
  }
  std::vector<std::string> headings = {"", later ? "later" : "recorded", "generated",
                                       later ? "fitted" : "1st half"};
  if (!later) headings.emplace_back("2nd half");
  TextTable figures(headings);
  for (const WorkloadSimilarity::ScalarComparison& f : fidelity.figures) {
    std::vector<std::string> cells = {f.name, significant_digits_text(f.real, 4),
                                      significant_digits_text(f.generated, 4),
                                      significant_digits_text(f.first_part, 4)};
    if (!later) cells.push_back(significant_digits_text(f.second_part, 4));
    figures.row(cells);
  }
  std::printf("\n%s\n%s", distances.text().c_str(), figures.text().c_str());
  std::printf("\ngenerated: distance to the %s, mean over %d seeds; %s\n",
              later ? "later part" : "recorded part", samples,
              later ? "fitted: distance of the fitted part to the later part"
                    : "halves: distance between the halves of the recorded part");
}

QueueStatistics mean_of(const std::vector<QueueStatistics>& all) {
  QueueStatistics out;
  const auto n = static_cast<double>(all.size());
  for (const QueueStatistics& f : all) {
    out.mean_wait_s += f.mean_wait_s / n;
    out.mean_jct_s += f.mean_jct_s / n;
    for (double OccupancyFigures::*figure :
         {&OccupancyFigures::held, &OccupancyFigures::held_sd,
          &OccupancyFigures::autocorrelation_1h, &OccupancyFigures::autocorrelation_24h,
          &OccupancyFigures::waiting, &OccupancyFigures::queued}) {
      out.occupancy.*figure += f.occupancy.*figure / n;
    }
  }
  return out;
}

void print_check(const QueueingComparison& check, const std::string& cluster) {
  std::printf("\nqueues on %s; recorded jobs at load %.3f and congestion %.2f; ratios to these\n",
              cluster.c_str(), check.load, check.congestion);
  TextTable waits({"policy", "wait s", "JCT s", "wait ratio", "lowest", "highest", "JCT ratio",
                   "wait of halves", "JCT of halves"});
  for (const QueueingComparisonRow& row : check.rows) {
    const auto [low, high] = std::ranges::minmax(row.generated, {}, &QueueStatistics::mean_wait_s);
    const QueueStatistics mean = mean_of(row.generated);
    const QueueStatistics& r = row.real;
    const auto over = [](double part, double whole) { return number_text(part / whole, 2); };
    const auto halves = [&](double QueueStatistics::*figure) {
      return over(row.first_half.*figure, r.*figure) + " " +
             over(row.second_half.*figure, r.*figure);
    };
    waits.row({row.policy, number_text(r.mean_wait_s, 1), number_text(r.mean_jct_s, 1),
               over(mean.mean_wait_s, r.mean_wait_s), over(low.mean_wait_s, r.mean_wait_s),
               over(high.mean_wait_s, r.mean_wait_s), over(mean.mean_jct_s, r.mean_jct_s),
               halves(&QueueStatistics::mean_wait_s), halves(&QueueStatistics::mean_jct_s)});
  }
  TextTable over_time({"cluster over time", "GPUs held", "hourly sd", "r, 1 h", "r, 24 h",
                       "waiting", "queued", "wait s"});
  const auto print = [&](const std::string& name, const QueueStatistics& f) {
    const OccupancyFigures& o = f.occupancy;
    over_time.row({name, percent_text(o.held, 1), percent_text(o.held_sd, 1),
                   number_text(o.autocorrelation_1h, 2), number_text(o.autocorrelation_24h, 2),
                   number_text(o.waiting, 2), percent_text(o.queued, 1),
                   number_text(f.mean_wait_s, 1)});
  };
  if (check.logged) print("logged", *check.logged);
  for (const QueueingComparisonRow& row : check.rows) {
    print(row.policy + ", recorded", row.real);
    print(row.policy + ", generated", mean_of(row.generated));
  }
  std::printf("%s\n%s", waits.text().c_str(), over_time.text().c_str());
}

// Writes the generated jobs and commits `files` together with them.
void write_jobs(Trace trace, const TraceGenerateCommand& options, AtomicFiles& files) {
  const ThinBy by = options.thin_by == "job" ? ThinBy::kJob : ThinBy::kBatch;
  yard::thin(trace.jobs, options.thin, by, Rng(options.load.seed));
  if (!options.out.empty()) files.add(options.out, to_native_text(trace, options.out));
  files.commit();
  if (options.out.empty()) return;
  std::fprintf(stderr, "%s written to %s\n",
               pluralised_count_text(std::ssize(trace.jobs), "job").c_str(), options.out.c_str());
}

void check_options(const TraceGenerateCommand& o) {
  const std::string where = "trace generate";
  require_input(o.generator.empty() != o.like.empty(), where, "synthetic:NAME or --like TRACE",
                o.like.empty() ? "neither" : "both");
  require_input(o.thin > 0 && o.thin <= 1, "--thin", "more than 0, up to 1", shortest_text(o.thin));
  if (o.like.empty()) {
    require_input(o.generator.starts_with("synthetic:"), where, "synthetic:NAME or --like TRACE",
                  "'" + o.generator + "'");
    require_input(!o.out.empty(), where, "--out FILE", "none");
    require_input(o.days == 0 && o.target_load == 0 && !o.check && o.model_out.empty() &&
                      o.later.from.empty() && o.later.to.empty(),
                  where,
                  "--days, --load, --check, --against-from, --against-to and --model-out only with "
                  "--like TRACE",
                  "'" + o.generator + "'");
    const TraceGenerateCommand defaults;
    require_input(
        !o.json && o.report_out.empty() && o.samples == defaults.samples &&
            o.congestion == defaults.congestion && o.part.from.empty() && o.part.to.empty() &&
            o.load.format.empty() && o.columns.empty() && !o.load.skip_unusable,
        where,
        "--json, --json-out, --samples, --congestion, --from, --to, --format, --columns and "
        "--skip-unusable only with --like TRACE",
        "'" + o.generator + "'");
    return;
  }
  require_input(!o.check || !o.cluster.empty(), "--check", "a --cluster to simulate", "none");
  check_range("--congestion", o.congestion, 0, 1000);
}

}  // namespace

void TraceGenerateCommand::add_to(CLI::App& command) {
  const auto group = [&](const char* name) { command.option_defaults()->group(name); };
  group("Workload");
  command.add_option("generator", generator, "synthetic:NAME, unless --like is given")
      ->type_name(kTraceType);
  command.add_option("--seed", load.seed, "seed of the generated workload")
      ->check(whole_number<uint64_t>(0));
  command
      .add_option("--jobs", load.jobs,
                  "number of jobs (default with --like: as in the fitted part)")
      ->default_str("")
      ->check(whole_number(1));
  command.add_option("--days", days, "with --like: length in days, instead of a number of jobs");
  command.add_option(
      "--load", target_load,
      "with --like: GPU time requested divided by that of the cluster (default: as fitted)");
  command.add_option("--thin", thin, "probability of keeping each batch or job (see --thin-by)");
  command
      .add_option("--thin-by", thin_by,
                  "whether --thin keeps or removes whole batches or single jobs")
      ->check(one_of({"batch", "job"}));
  command.add_option("--set", set, "key=value: a setting of the generator or the trace format");
  group("Cluster");
  command
      .add_option("--cluster", cluster,
                  "cluster to which the load refers and which --check simulates")
      ->type_name(kClusterType);
  command
      .add_option("--cluster-gpus", load.cluster_gpus,
                  "size of the cluster in GPUs, instead of --cluster")
      ->default_str("")
      ->check(whole_number(1));
  group("Fitted model");
  command.add_option("--like", like, "trace to which a model is fitted: a file or synthetic:NAME")
      ->type_name(kTraceType);
  command.add_option("--format", load.format, "format of the trace of --like (default: detected)")
      ->type_name(kFormatType);
  command.add_flag("--skip-unusable", load.skip_unusable,
                   "skip and count unusable rows instead of refusing the file");
  command.add_option("--columns", columns, kColumnsHelp)->default_str("");
  command.add_option("--from", part.from, "start of the part to fit: seconds, a date or NN%");
  command.add_option("--to", part.to, "end of the part to fit (default 60%, the training part)");
  group("Comparison");
  command.add_option("--against-from", later.from,
                     "start of a later part to compare with in the report and --check");
  command.add_option("--against-to", later.to,
                     "end of the later part (default: compare with the fitted part)");
  command.add_option("--samples", samples, "number of generated workloads in the report")
      ->check(CLI::Range(1, 100));
  command.add_flag("--check", check,
                   "also simulate schedulers on the recorded and generated workloads");
  command.add_option("--congestion", congestion,
                     "congestion of the recorded workload in --check (0: unscaled arrivals)");
  group("Output");
  command.add_option("--out", out, "output file, .csv or .jsonl");
  command.add_option("--model-out", model_out, "write the fitted model, for synthetic:like");
  command.add_flag("--json", json, "print the report as one JSON document");
  command.add_option("--json-out", report_out, "write the report to a file");
  set_examples(command,
               {"yardmaster trace generate synthetic:habits --jobs 1000 --out jobs.csv",
                "yardmaster trace generate --like jobs.csv --model-out model.json --out like.csv"});
}

int TraceGenerateCommand::run() {
  check_options(*this);
  set_trace_keys(set, load.settings);
  set_trace_columns(columns, load.settings);
  std::optional<ClusterSpec> where;
  if (!cluster.empty()) {
    where = load_cluster(cluster);
    load.cluster_gpus = where->total_gpus();
  }
  if (like.empty()) {
    AtomicFiles files;
    write_jobs(load_trace(generator, load), *this, files);
    return 0;
  }
  LoadOptions record_options = load;
  record_options.jobs = 0;
  record_options.cluster_gpus = 0;
  const Trace trace = load_trace(like, record_options);
  if (part.from.empty() && part.to.empty()) part.to = kTrainingShare;
  const TracePart fitted = select_trace_part(trace, part);
  const WorkloadModel model = fit_workload_model(trace, fitted);
  std::optional<TracePart> comparison;
  if (!later.from.empty() || !later.to.empty()) comparison = select_trace_part(trace, later);
  const SampleOptions like_options{.seed = load.seed,
                                   .jobs = load.jobs,
                                   .days = days,
                                   .load = target_load,
                                   .cluster_gpus = load.cluster_gpus};
  Trace made;
  made.source = "synthetic:like";
  made.jobs = sample_workload(model, like_options);
  AtomicFiles files;
  if (!model_out.empty()) files.add(model_out, to_text(model));
  write_jobs(std::move(made), *this, files);

  const TracePart& real = comparison ? *comparison : fitted;
  std::vector<std::vector<Job>> sample_traces;
  for (int s = 0; s < samples; ++s) {
    SampleOptions sample{.seed = load.seed + static_cast<uint64_t>(s)};
    // As many jobs as in the fitted part, or the later part's length at the fitted part's rate.
    if (comparison) sample.days = seconds(comparison->to_us - comparison->from_us) / kDayS;
    sample_traces.push_back(sample_workload(model, sample));
  }
  const WorkloadSimilarity fidelity = fidelity_of(trace, fitted, comparison, model, sample_traces);
  Json report = {{"model", model_json(model, fitted, comparison)},
                 {"fidelity", fidelity_json(fidelity, comparison.has_value())}};
  report["fidelity"]["samples"] = samples;
  std::optional<QueueingComparison> queues;
  if (check) {
    queues = compare_queueing(real, sample_traces, *where, congestion, kCheckPolicies);
    report["queues"] = check_json(*queues);
  }
  if (!report_out.empty()) write_file_atomic(report_out, report.dump(2) + "\n");
  if (json) {
    std::puts(report.dump(2).c_str());
    return 0;
  }
  print_model(report["model"]);
  print_fidelity(fidelity, comparison.has_value(), samples);
  if (queues) print_check(*queues, cluster);
  return 0;
}

}  // namespace yard::sim
