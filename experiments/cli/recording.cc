#include "experiments/cli/recording.h"

#include <algorithm>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "experiments/cli/command.h"
#include "experiments/replay/jobs_csv.h"

namespace yard::sim {

void RecordingOptions::add_to(CLI::App& app) {
  app.option_defaults()->group("Output");
  app.add_option("--metrics", metrics,
                 "metrics to compute: basic, or all, which adds GPU time by use, fragmentation, "
                 "energy, cost, fairness, deadlines, tenants and reasons for waits")
      ->check(one_of({"basic", "all"}));
  app.add_option("--jobs-out", jobs_out, "write a CSV with one row per job");
  app.add_option("--waits-out", waits_out,
                 "write a CSV of waits, with times, reasons and the jobs waited for");
  app.add_option("--series-out", series_out,
                 "write the state of the cluster and the queue over time: CSV if the name ends in "
                 ".csv, else JSON");
  app.add_option("--timeline", timeline,
                 "write a timeline of the jobs on each GPU, for ui.perfetto.dev");
  app.add_option("--dump-at", dump_at, "times for --dump-out: comma-separated seconds");
  app.add_option("--dump-out", dump_out, "write the whole state at the times of --dump-at as JSON");
}

void RecordingOptions::check() const {
  if (dump_at.empty() != dump_out.empty()) {
    const bool no_file = dump_out.empty();
    throw InputError(no_file ? "--dump-at" : "--dump-out",
                     no_file ? "--dump-out FILE as well" : "--dump-at TIMES as well", "none");
  }
  dump_times_us();
  for (const std::string* file : {&jobs_out, &series_out, &timeline, &waits_out, &dump_out}) {
    if (!file->empty()) check_writable(*file);
  }
}

std::vector<int64_t> RecordingOptions::dump_times_us() const {
  std::vector<int64_t> out;
  if (dump_at.empty()) return out;
  for (const std::string_view part : split(dump_at, ',')) {
    const auto at_us = parse_seconds_us(part);
    if (!at_us || *at_us < 0) {
      throw InputError("--dump-at", "comma-separated seconds", "'" + std::string(part) + "'");
    }
    out.push_back(*at_us);
  }
  std::sort(out.begin(), out.end());
  return out;
}

SimulationRecorder::SimulationRecorder(const RecordingOptions& options, const Scenario& scenario)
    : options_(options),
      scenario_(scenario),
      job_rows_(kJobsHeader),
      wait_rows_(kWaitsHeader),
      series_(scenario) {
  if (!options.timeline.empty()) {
    timeline_file_ = &files_.add(options.timeline);
    timeline_.emplace(scenario, [this](std::string_view text) { timeline_file_->write(text); });
  }
  if (!options.waits_out.empty()) {
    waits_file_ = &files_.add(options.waits_out);
    waits_file_->write(kWaitsHeader);
  }
  if (!options.dump_out.empty()) moments_.emplace(options.dump_times_us());
}

Run SimulationRecorder::simulate(const PreparedPolicy& prepared, RunOptions run_options) {
  begin(prepared);
  if (timeline_ || waits_ || meter_ || moments_ || options_.records_series()) {
    run_options.watch = [this](const SimModel& fixed, const SimState& state) {
      record_state(fixed, state);
    };
  }
  Run run = run_prepared(scenario_, prepared, run_options);
  end(run);
  if (moments_) replay_to_dump_states(prepared, run_options, run);
  return run;
}

void SimulationRecorder::begin(const PreparedPolicy& prepared) {
  state_exposed_ = false;
  metered_.reset();
  series_.begin();
  if (timeline_) timeline_->begin(prepared.name);
  if (options_.all_metrics()) meter_.emplace(scenario_.cluster, scenario_.simulated_trace());
  if (moments_) moments_->begin();
  if (!options_.records_waits()) return;
  std::function<void(const Wait&)> ended;
  if (timeline_ || waits_file_ || options_.for_report) {
    ended = [this, policy = prepared.name](const Wait& wait) {
      if (timeline_) timeline_->add_wait(wait);
      if (!waits_file_ && !options_.for_report) return;
      const std::string row = wait_row(scenario_, policy, wait);
      if (waits_file_) waits_file_->write(row);
      if (options_.for_report) wait_rows_ += row;
    };
  }
  waits_.emplace(scenario_, placement_rule_named(prepared.placement), std::move(ended));
}

void SimulationRecorder::record_state(const SimModel& fixed, const SimState& state) {
  state_exposed_ = true;
  if (options_.records_series()) series_.record_state(fixed, state);
  if (timeline_) timeline_->record_state(fixed, state);
  if (waits_) waits_->record_state(fixed, state);
  if (meter_) meter_->record_state(fixed, state);
  if (moments_) moments_->count_decision(state);
}

void SimulationRecorder::require_no_state_outputs(const std::string& rules) const {
  const std::pair<const char*, const std::string*> state_outputs[] = {
      {"--timeline", &options_.timeline},
      {"--series-out", &options_.series_out},
      {"--waits-out", &options_.waits_out},
      {"--dump-out", &options_.dump_out}};
  for (const auto& [option, file] : state_outputs) {
    if (!file->empty())
      throw InputError(option, "a rule set which places jobs on GPUs", "'" + rules + "'");
  }
}

void SimulationRecorder::end(const Run& run) {
  if (options_.records_jobs()) append_jobs_csv(scenario_, run, job_rows_);
  if (!state_exposed_) {
    require_no_state_outputs(run.rules);
    waits_.reset();
    return;
  }
  const int64_t end_us = run.outcome.end_us;
  if (options_.records_series()) series_.end(run);
  if (waits_) waits_->end(end_us);
  if (timeline_) timeline_->end(end_us);
  if (meter_) metered_ = meter_->end(end_us);
  if (moments_) moments_->end(end_us);
}

void SimulationRecorder::replay_to_dump_states(const PreparedPolicy& prepared,
                                               RunOptions run_options, const Run& run) {
  nlohmann::ordered_json states = nlohmann::ordered_json::array();
  run_options.watch = [&](const SimModel& fixed, const SimState& state) {
    moments_->dump_if_due(scenario_, fixed, state, placement_rule_named(prepared.placement),
                          states);
  };
  run_prepared(scenario_, prepared, run_options);
  dumps_.push_back({{"policy", run.policy}, {"rules", run.rules}, {"states", states}});
}

void SimulationRecorder::check() const {
  if (moments_) moments_->check("--dump-at");
}

AtomicFiles& SimulationRecorder::finish() {
  using Handler = nlohmann::ordered_json::error_handler_t;
  if (!options_.jobs_out.empty()) files_.add(options_.jobs_out, job_rows_);
  if (!options_.series_out.empty()) {
    const bool csv = options_.series_out.ends_with(".csv");
    files_.add(options_.series_out,
               csv ? series_.csv() : series_.json().dump(-1, ' ', false, Handler::replace));
  }
  if (moments_) {
    const nlohmann::ordered_json all = {{"dumps", dumps_}};
    files_.add(options_.dump_out, all.dump(1, ' ', false, Handler::replace) + "\n");
  }
  if (timeline_) timeline_->finish();
  return files_;
}

}  // namespace yard::sim
