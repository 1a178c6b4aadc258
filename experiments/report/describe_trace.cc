#include "experiments/report/describe_trace.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <set>

#include "env/base/core/nearest_rank.h"
#include "env/base/text/text.h"
#include "env/base/text/wall_clock.h"
#include "env/trace/core/notices.h"
#include "experiments/report/scenario_json.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kStatesShown = 8;

double gpus_of(const Job& job) {
  double shares = 0, whole = 0;
  for (const RoleGroup& group : job.groups) {
    whole += static_cast<double>(group.count) * group.task.gpus;
    shares += static_cast<double>(group.count) * group.task.gpu_milli / 1000;
  }
  return shares > 0 ? whole + shares : job.gpus;
}

Json time_quantiles(std::vector<int64_t> times_us) {
  if (times_us.empty()) return nullptr;
  const auto at = [&](double share) {
    return seconds_json(nearest_rank_quantile(times_us, share));
  };
  double sum_us = 0;
  for (const int64_t us : times_us) sum_us += static_cast<double>(us);
  return {{"mean", sum_us / static_cast<double>(times_us.size()) / 1e6},
          {"min", at(0)},
          {"p50", at(0.5)},
          {"p90", at(0.9)},
          {"p99", at(0.99)},
          {"max", at(1)}};
}

Json ratio_quantiles(std::vector<double> ratios) {
  if (ratios.empty()) return nullptr;
  const auto at = [&](double share) { return nearest_rank_quantile(ratios, share); };
  return {{"min", at(0)}, {"p50", at(0.5)}, {"p90", at(0.9)}, {"max", at(1)}};
}

size_t distinct(const std::vector<Job>& jobs, std::string Job::*field) {
  std::set<std::string_view> seen;
  for (const Job& job : jobs) {
    if (!(job.*field).empty()) seen.insert(job.*field);
  }
  return seen.size();
}

// Deadlines of the jobs that have any; `deadline_over_run` is the last deadline divided by the run
// time.
Json deadlines_json(const std::vector<Job>& jobs) {
  std::vector<double> deadline_over_run;
  int64_t with = 0, several = 0, shorter = 0;
  for (const Job& job : jobs) {
    if (job.dues.empty()) continue;
    ++with;
    several += job.dues.size() > 1;
    if (job.run_us <= 0) continue;
    shorter += job.dues.back().within_us < job.run_us;
    deadline_over_run.push_back(static_cast<double>(job.dues.back().within_us) /
                                static_cast<double>(job.run_us));
  }
  if (with == 0) return nullptr;
  return {{"jobs", with},
          {"in_several_steps", several},
          {"shorter_than_run", shorter},
          {"over_run", ratio_quantiles(std::move(deadline_over_run))}};
}

Json limits_json(const std::vector<Job>& jobs) {
  std::vector<int64_t> limits_us;
  std::vector<double> used;
  for (const Job& job : jobs) {
    if (job.limit_us < 0) continue;
    limits_us.push_back(job.limit_us);
    if (job.limit_us > 0 && job.run_us >= 0) {
      used.push_back(static_cast<double>(job.run_us) / static_cast<double>(job.limit_us));
    }
  }
  if (limits_us.empty()) return nullptr;
  return {{"jobs", limits_us.size()},
          {"limit_s", time_quantiles(std::move(limits_us))},
          {"run_over_limit", ratio_quantiles(std::move(used))}};
}

Json waits_json(const std::vector<Job>& jobs) {
  std::vector<int64_t> waits_us;
  for (const Job& job : jobs) {
    if (job.logged_start_us >= 0) waits_us.push_back(job.logged_start_us - job.submit_us);
  }
  if (waits_us.empty()) return nullptr;
  Json out = {{"jobs", waits_us.size()}};
  out.update(time_quantiles(std::move(waits_us)));
  return out;
}

// Counts of the most frequent end states; all others are summed.
Json states_json(const std::vector<Job>& jobs) {
  std::map<std::string_view, int64_t> counts;
  for (const Job& job : jobs) {
    if (!job.status.empty()) ++counts[job.status];
  }
  std::vector<std::pair<std::string_view, int64_t>> rows(counts.begin(), counts.end());
  std::ranges::stable_sort(rows, std::greater<>(), &std::pair<std::string_view, int64_t>::second);
  Json out = Json::object();
  int64_t others = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i < kStatesShown) {
      out[std::string(rows[i].first)] = rows[i].second;
    } else {
      others += rows[i].second;
    }
  }
  if (others > 0) out["others"] = others;
  return out.empty() ? Json(nullptr) : out;
}

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "-";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  if (!value.is_object()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::vector<std::string> parts;
  for (const auto& [key, part] : value.items()) {
    parts.push_back(key +
                    (part.is_object() ? " (" + value_text(part) + ")" : " " + value_text(part)));
  }
  return join(parts);
}

}  // namespace

Json describe_json(const Trace& trace, int cluster_gpus) {
  const std::vector<Job>& jobs = trace.jobs;
  const auto count = [&](auto&& has) { return std::ranges::count_if(jobs, has); };
  std::vector<int64_t> run_us;
  std::map<int32_t, int64_t> by_gpus;
  double gpu_s = 0;
  for (const Job& job : jobs) {
    ++by_gpus[job.gpus];
    if (job.run_us < 0) continue;
    run_us.push_back(job.run_us);
    gpu_s += static_cast<double>(job.run_us) / 1e6 * gpus_of(job);
  }
  Json sizes = Json::object();
  for (const auto& [gpus, number] : by_gpus) sizes[std::to_string(gpus)] = number;
  Json reasons = Json::array();
  int64_t skipped = 0;
  for (const CountedRows& what : trace.skipped) {
    skipped += what.count;
    reasons.push_back({{"reason", what.reason}, {"count", what.count}, {"first", what.first}});
  }
  const bool known = !run_us.empty();  // else sums over run times are meaningless
  const double span_s = static_cast<double>(jobs.back().submit_us - jobs.front().submit_us) / 1e6;
  const bool spans = span_s > 0 && known;
  const int gpus = cluster_gpus > 0 ? cluster_gpus : trace.machine_gpus;
  Json begins;
  if (trace.epoch_unix_s) {
    begins = date_text(*trace.epoch_unix_s + jobs.front().submit_us / 1'000'000) + "Z";
  }
  Json out = {{"source", trace.source},
              {"format", trace.format},
              {"sha256", trace.sha256},
              {"jobs", jobs.size()},
              {"skipped", skipped},
              {"skipped_by_reason", reasons},
              {"users", distinct(jobs, &Job::user)},
              {"tenants", distinct(jobs, &Job::tenant)},
              {"models", distinct(jobs, &Job::model)},
              {"arrays", distinct(jobs, &Job::array)},
              {"begins", begins},
              {"first_submit_s", seconds_json(jobs.front().submit_us)},
              {"last_submit_s", seconds_json(jobs.back().submit_us)},
              {"span_days", span_s / 86400},
              {"run_s", time_quantiles(std::move(run_us))},
              {"run_time_from_profile", count([](const Job& job) { return job.run_us < 0; })},
              {"gpu_hours", known ? Json(gpu_s / 3600) : Json(nullptr)},
              {"machine_gpus", trace.machine_gpus > 0 ? Json(trace.machine_gpus) : Json(nullptr)},
              {"mean_gpus_busy", spans ? Json(gpu_s / span_s) : Json()},
              {"load", spans && gpus > 0 ? Json(gpu_s / span_s / gpus) : Json()},
              {"jobs_by_gpus", sizes},
              {"jobs_on_gpu_shares", count([](const Job& job) {
                 return std::ranges::any_of(
                     job.groups, [](const RoleGroup& g) { return g.task.gpu_milli > 0; });
               })},
              {"jobs_on_named_types", count([](const Job& job) { return !job.gpu_types.empty(); })},
              {"jobs_after_others", count([](const Job& job) { return !job.after.empty(); })},
              {"deadlines", deadlines_json(jobs)},
              {"limits", limits_json(jobs)},
              {"logged_wait_s", waits_json(jobs)},
              {"end_states", states_json(jobs)}};
  for (const CountedRows& what : trace.notices) out["notices"].push_back(format_notice(what));
  return out;
}

void print_description(const Json& description) {
  for (const auto& [key, value] : description.items()) {
    if (key == "skipped_by_reason") {
      for (const Json& what : value) {
        std::printf("%-22s %s x %s, the first at %s\n", "", value_text(what["count"]).c_str(),
                    value_text(what["reason"]).c_str(), value_text(what["first"]).c_str());
      }
    } else if (key == "notices") {
      for (const Json& what : value) std::printf("%-22s %s\n", "note", value_text(what).c_str());
    } else {
      std::printf("%-22s %s\n", key.c_str(), value_text(value).c_str());
    }
  }
}

}  // namespace yard::sim
