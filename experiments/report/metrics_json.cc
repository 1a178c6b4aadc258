#include "experiments/report/metrics_json.h"

#include <algorithm>
#include <cstdio>

#include "env/sim/metrics/accuracy.h"
#include "env/sim/metrics/fairness.h"
#include "env/sim/metrics/tenants.h"
#include "env/sim/rulesets/speed_estimator.h"
#include "experiments/report/scenario_json.h"
#include "experiments/report/text_table.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSecondsPerHour = 3600;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json ratio(double part, double whole) { return whole > 0 ? Json(part / whole) : Json(nullptr); }

Json times_json(const JctSummary& s) {
  return {{"jobs", s.jobs},
          {"finished", s.finished},
          {"unfinished", s.jobs - s.finished},
          {"sum_jct_s", seconds_json(s.sum_jct_us)},
          {"mean_jct_s", s.mean_jct_s},
          {"p50_jct_s", s.p50_jct_s},
          {"p95_jct_s", s.p95_jct_s},
          {"p99_jct_s", s.p99_jct_s},
          {"mean_wait_s", s.mean_wait_s},
          {"max_wait_s", s.max_wait_s},
          {"mean_run_s", s.mean_run_s}};
}

Json fairness_json(const Fairness& fairness) {
  const auto& rho = fairness.finish_time;
  return {{"rho_mean", rho ? Json(rho->mean) : Json()},
          {"rho_p95", rho ? Json(rho->p95) : Json()},
          {"rho_max", rho ? Json(rho->max) : Json()},
          {"unfair_share", rho ? Json(rho->unfair_share) : Json()},
          {"jain_users", or_null(fairness.jain_users)},
          {"jain_tenants", or_null(fairness.jain_tenants)}};
}

Json deadlines_json(const std::optional<DeadlineSummary>& deadlines) {
  if (!deadlines) return nullptr;
  return {{"jobs", deadlines->jobs},
          {"met", deadlines->met},
          {"missed", deadlines->missed},
          {"open", deadlines->open},
          {"mean_tardiness_s", deadlines->mean_tardiness_s},
          {"max_tardiness_s", deadlines->max_tardiness_s},
          {"value", deadlines->value},
          {"value_share", deadlines->value_share}};
}

Json accuracy_json(const std::optional<AccuracySummary>& accuracy) {
  if (!accuracy) return nullptr;
  return {{"jobs", accuracy->jobs},
          {"reached", accuracy->reached},
          {"reached_share",
           ratio(static_cast<double>(accuracy->reached), static_cast<double>(accuracy->jobs))},
          {"due", accuracy->due},
          {"due_reached", accuracy->due_reached},
          {"due_reached_share",
           ratio(static_cast<double>(accuracy->due_reached), static_cast<double>(accuracy->due))},
          {"mean", accuracy->mean}};
}

// Adds figures about jobs which were ended early. If none was, all but their number are null.
void add_early(const std::optional<EndedByPolicySummary>& early, int64_t finished, Json& out) {
  const bool others = early && finished > early->jobs;
  out["ended_early"] = early ? early->jobs : 0;
  out["early_mean_jct_s"] = early ? Json(early->mean_jct_s) : Json();
  out["others_mean_jct_s"] = others ? Json(early->others_mean_jct_s) : Json();
  out["undone_share"] = early ? Json(early->undone_share) : Json();
}

Json tenants_json(const std::vector<TenantSummary>& tenants) {
  if (tenants.empty()) return nullptr;
  Json out = Json::array();
  for (const TenantSummary& one : tenants) {
    const auto if_ended = [&](double s) { return one.all.finished > 0 ? Json(s) : Json(); };
    out.push_back({{"tenant", one.tenant},
                   {"jobs", one.all.jobs},
                   {"finished", one.all.finished},
                   {"mean_jct_s", if_ended(one.all.mean_jct_s)},
                   {"p95_jct_s", if_ended(one.all.p95_jct_s)},
                   {"mean_wait_s", if_ended(one.all.mean_wait_s)},
                   {"p95_wait_s", if_ended(one.p95_wait_s)},
                   {"deadlines", deadlines_json(one.deadlines)},
                   {"gpu_hours", or_null(one.gpu_hours)},
                   {"mean_gpus", or_null(one.mean_gpus)},
                   {"quota_gpus", or_null(one.quota_gpus)},
                   {"quota_share", or_null(one.quota_share)}});
  }
  return out;
}

Json gpu_hours_json(const GpuSeconds& time) {
  return {
      {"all", time.total() / kSecondsPerHour},       {"running", time.running / kSecondsPerHour},
      {"starting", time.starting / kSecondsPerHour}, {"saving", time.saving / kSecondsPerHour},
      {"unshared", time.unshared / kSecondsPerHour}, {"down", time.down / kSecondsPerHour},
      {"idle", time.idle / kSecondsPerHour},         {"lost", time.lost / kSecondsPerHour}};
}

Json fragmentation_json(const FreeGpuCounts& time, double span_s) {
  return {{"mean_free_gpus", ratio(time.free, span_s)},
          {"unusable", ratio(time.unusable, time.free)},
          {"partial", ratio(time.partial, time.free)},
          {"stranded", ratio(time.stranded, time.free)},
          {"block", ratio(time.ideal_block - time.largest_block, time.ideal_block)}};
}

// Waiting time by reason; reasons which never occurred are left out.
Json waits_json(const Waits* waits) {
  if (waits == nullptr) return nullptr;
  WideUs all_us = 0;
  for (const WaitTotal& total : waits->totals()) all_us += total.time_us;
  Json out = Json::array();
  for (size_t r = 0; r < waits->totals().size(); ++r) {
    const WaitTotal& total = waits->totals()[r];
    if (total.intervals == 0) continue;
    out.push_back(
        {{"reason", kWaitReasonNames[r]},
         {"jobs", total.jobs},
         {"intervals", total.intervals},
         {"total_s", seconds_json(total.time_us)},
         {"share", ratio(static_cast<double>(total.time_us), static_cast<double>(all_us))}});
  }
  return out;
}

// Adds figures which need metering at every step; null without it.
void add_metered_figures(const Scenario& scenario, const GpuUsage* metered, Json& out) {
  for (const char* key :
       {"gpu_hours", "goodput", "overhead", "fragmentation", "energy_kwh", "cost"}) {
    out[key] = nullptr;
  }
  if (metered == nullptr) return;
  const GpuSeconds& time = metered->time;
  out["gpu_hours"] = gpu_hours_json(time);
  out["goodput"] = ratio(time.running - time.lost, time.total());
  out["overhead"] = ratio(time.starting + time.saving + time.lost, time.total());
  out["fragmentation"] = fragmentation_json(metered->fragments, metered->span_s);
  out["energy_kwh"] = or_null(energy_kwh(scenario.cluster, *metered));
  if (const auto cost = cost_of(scenario.cluster, *metered)) {
    out["cost"] = {{"held", cost->held}, {"all", cost->all}};
  }
}

std::string figure_text(const Json& value) {
  return value.is_null() ? "-" : significant_digits_text(value.get<double>(), 5);
}

// Prints one line per run: the values of `keys` in `of(run)`. Prints nothing if all are null.
template <class Select>
void print_lines(const Json& runs, const char* title, const std::vector<const char*>& keys,
                 Select of) {
  const bool any = std::any_of(runs.begin(), runs.end(), [&](const Json& run) {
    const Json part = of(run);
    return !part.is_null() && std::any_of(keys.begin(), keys.end(),
                                          [&](const char* key) { return !part[key].is_null(); });
  });
  if (!any) return;
  std::vector<std::string> headings = {title};
  headings.insert(headings.end(), keys.begin(), keys.end());
  TextTable table(headings);
  for (const Json& run : runs) {
    std::vector<std::string> cells = {run["policy"].get<std::string>()};
    const Json part = of(run);
    for (const char* key : keys) cells.push_back(figure_text(part.is_null() ? Json() : part[key]));
    table.row(cells);
  }
  std::printf("\n%s", table.text().c_str());
}

void print_tenants(const Json& run) {
  if (run["tenants"].is_null()) return;
  const std::vector<const char*> keys = {"jobs",       "mean_jct_s", "p95_jct_s", "mean_wait_s",
                                         "p95_wait_s", "gpu_hours",  "mean_gpus", "quota_share"};
  std::vector<std::string> headings = {"tenants, " + run["policy"].get<std::string>()};
  headings.insert(headings.end(), keys.begin(), keys.end());
  headings.emplace_back("deadlines met");
  TextTable table(headings);
  for (const Json& tenant : run["tenants"]) {
    std::vector<std::string> cells = {tenant["tenant"].get<std::string>()};
    for (const char* key : keys) cells.push_back(figure_text(tenant[key]));
    const Json& due = tenant["deadlines"];
    cells.push_back(due.is_null() ? "-" : due["met"].dump() + " of " + due["jobs"].dump());
    table.row(cells);
  }
  std::printf("\n%s", table.text().c_str());
}

void print_waits(const Json& run) {
  if (run["waits"].empty()) return;
  TextTable table(
      {"waiting, " + run["policy"].get<std::string>(), "jobs", "intervals", "total_s", "share"});
  for (const Json& one : run["waits"]) {
    const Json& share = one["share"];
    table.row({one["reason"].get<std::string>(), one["jobs"].dump(), one["intervals"].dump(),
               number_text(one["total_s"].get<double>(), 1),
               share.is_null() ? "-" : number_text(share.get<double>(), 3)});
  }
  std::printf("\n%s", table.text().c_str());
}

}  // namespace

Json run_json(const Scenario& scenario, const Run& run, const GpuUsage* metered,
              const Waits* waits) {
  const Summary& s = run.summary;
  Json out = {{"policy", run.policy},
              {"rules", run.rules},
              {"placement", run.placement.empty() ? Json() : Json(run.placement)},
              {"information", information_level_name(run.level)},
              {"speeds", speed_information_name(run.speeds)},
              {"bound", is_oracle_bound(run.level)}};
  out.update(times_json(s.all));
  out["mean_slowdown"] = s.mean_slowdown;
  out["makespan_s"] = s.makespan_s;
  out["utilisation"] = s.utilisation;
  out["preemptions"] = s.preemptions;
  out["moves"] = or_null(s.migrations);
  out["rapid_repreemptions"] = or_null(s.rapid_repreemptions);
  out["restarts"] = s.restarts;
  add_early(s.early, s.all.finished, out);
  out["failures"] = run.outcome.failures;
  out["lost_gpu_hours"] = static_cast<double>(run.outcome.lost_time_us) / 1e6 / kSecondsPerHour;
  out["moved_bytes"] = scenario.speeds ? Json(run.outcome.moved_bytes) : Json();
  out["events"] = run.outcome.events;
  out["decisions"] = run.outcome.decisions;
  out["wall_s"] = run.wall_s;
  out["fairness"] =
      fairness_json(fairness_of(scenario.trace, scenario.fixed, scenario.isolated_us, run.outcome));
  out["deadlines"] = deadlines_json(deadlines_of(scenario.trace, run.outcome));
  out["accuracy"] = accuracy_json(accuracy_of(scenario.trace, run.outcome));
  add_metered_figures(scenario, metered, out);
  out["tenants"] = tenants_json(
      tenants_of(scenario.trace, scenario.cluster, scenario.isolated_us, run.outcome, metered));
  out["waits"] = waits_json(waits);
  out["classes"] = Json::array();
  for (const SizeClassSummary& of : s.classes) {
    Json one = {{"gpus", of.gpus}};
    one.update(times_json(of.all));
    out["classes"].push_back(one);
  }
  return out;
}

void print_all_metrics(const Json& runs) {
  const auto part = [](const char* key) { return [key](const Json& run) { return run[key]; }; };
  const auto whole = [](const Json& run) { return run; };
  const auto early = [](const Json& run) { return run["ended_early"] == 0 ? Json() : run; };
  print_lines(runs, "GPU hours",
              {"running", "starting", "saving", "unshared", "down", "idle", "lost"},
              part("gpu_hours"));
  print_lines(runs, "share of all GPU time", {"utilisation", "goodput", "overhead"}, whole);
  print_lines(runs, "fragmentation", {"mean_free_gpus", "unusable", "partial", "stranded", "block"},
              part("fragmentation"));
  print_lines(runs, "fairness",
              {"rho_mean", "rho_p95", "rho_max", "unfair_share", "jain_users", "jain_tenants"},
              part("fairness"));
  print_lines(runs, "deadlines",
              {"jobs", "met", "missed", "open", "mean_tardiness_s", "value_share"},
              part("deadlines"));
  print_lines(
      runs, "accuracy",
      {"jobs", "reached", "reached_share", "due", "due_reached", "due_reached_share", "mean"},
      part("accuracy"));
  print_lines(runs, "ended early",
              {"ended_early", "early_mean_jct_s", "others_mean_jct_s", "undone_share"}, early);
  print_lines(
      runs, "interruptions",
      {"preemptions", "moves", "rapid_repreemptions", "restarts", "failures", "moved_bytes"},
      whole);
  print_lines(runs, "energy", {"energy_kwh"}, whole);
  print_lines(runs, "cost", {"held", "all"}, part("cost"));
  for (const Json& run : runs) print_tenants(run);
  for (const Json& run : runs) print_waits(run);
}

}  // namespace yard::sim
