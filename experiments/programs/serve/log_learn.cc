#include "experiments/programs/serve/log_learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/json_flaw.h"
#include "env/base/text/print.h"
#include "env/trace/formats/native.h"
#include "experiments/cli/common_options.h"
#include "experiments/stats/mean_by_time.h"
#include "policies/learned/learned_policy.h"
#include "serving/log/log_fit.h"
#include "serving/log/log_training_data.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The hash of the concatenated hashes of the log's files, oldest first.
std::string sha256_of(const LogReader& log) {
  std::string all;
  for (const LogFile& file : log.files()) all += sha256_hex(read_file(file.path));
  return sha256_hex(all);
}

// Reads the settings in a checkpoint's task. Without a file as many jobs as possible are listed.
std::unique_ptr<Agent> read_agent(const std::string& name, const std::string& path) {
  if (path.empty()) {
    Settings all_rows;
    all_rows.set("held_rows", "64", "log choices");
    all_rows.set("waiting_rows", "128", "log choices");
    return make_agent(name, all_rows);
  }
  try {
    Checkpoint checkpoint;
    checkpoint.agent = name;
    checkpoint.task = Json::parse(read_file(path));
    return agent_of(checkpoint);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path, "the `task` of a dispatcher's checkpoint", json_error_text(error));
  }
}

Json mean_json(const MeanWithBlockInterval& mean) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  return {{"mean_jct_s", number(mean.mean)},
          {"interval", {number(mean.interval.lo), number(mean.interval.hi)}},
          {"jobs", mean.jobs},
          {"blocks", mean.blocks}};
}

// Mean JCT of the jobs which were submitted and ended while the log was written; null if none.
Json observed(const FittedScenario& fit) {
  std::vector<double> jct_s;
  for (const LogJob& one : fit.jobs) {
    const double submit_s = 1e-6 * static_cast<double>(one.job.submit_us);
    if (one.end == LogEnd::kCensored || submit_s < fit.begin_s) continue;
    jct_s.push_back(std::max(1e-6, 1e-6 * static_cast<double>(one.job.logged_end_us) - submit_s));
  }
  return jct_s.empty() ? Json() : mean_json(mean_with_block_interval({jct_s}));
}

}  // namespace

void print_json(const Json& document) { std::fputs(sim::json_text(document).c_str(), stdout); }

void print_log_damage(const LogReader& log) {
  const std::string& first = log.damage().first;
  if (!first.empty()) std::fprintf(stderr, "left out: %s\n", first.c_str());
}

void write_choices_from_log(const ChoicesFromLogOptions& options) {
  if (options.agent != "dispatcher") {
    throw InputError("--agent", "dispatcher, the only agent that can represent a log",
                     "'" + options.agent + "'");
  }
  const auto agent = read_agent(options.agent, options.task);
  LogReader log(options.log);
  const LogTrainingData found = training_data_of(log, *agent);
  if (found.decisions == 0 && !log.damage().first.empty()) throw InputError(log.damage().first);
  if (found.steps.size() == 0) {
    throw InputError(options.log, "decisions that the dispatcher's task can represent",
                     fmt::format("none of {}", found.decisions));
  }
  const Json summary = {
      {"agent", options.agent},         {"task", agent_settings_json(options.agent, *agent)},
      {"decisions", found.decisions},   {"skipped", found.skipped},
      {"impossible", found.impossible}, {"idle", found.idle},
      {"steps", found.steps.size()},    {"expert_action", found.expert_action},
      {"noop", found.nothing},          {"actions", found.actions},
      {"reproduced", found.reproduced}, {"other_placement", found.other_placement},
      {"not_shown", found.not_shown},   {"not_legal", found.not_legal},
      {"illegal_noop", found.forced},   {"first_missed", found.first}};
  write_file_atomic(options.out, to_safetensors(pack_choices(found.steps)));
  print_log_damage(log);
  if (options.json) return print_json(summary);
  print_to(
      stdout,
      "{} decisions: {} not made by the policy, {} with an invalid snapshot, {} without a choice\n",
      found.decisions, found.skipped, found.impossible, found.idle);
  print_to(
      stdout,
      "{} steps, {} of them doing nothing; of {} recorded actions {} are reproduced, {} of these "
      "with another placement\n",
      found.steps.size(), found.nothing, found.actions, found.reproduced, found.other_placement);
  print_to(
      stdout,
      "not representable in the task: {} actions on jobs outside of its rows, {} illegal actions, "
      "{} decisions to do nothing{}{}\n",
      found.not_shown, found.not_legal, found.forced, found.first.empty() ? "" : "; first in ",
      found.first);
}

std::string logged_jobs_file_name(int draw) {
  return draw == 0 ? "jobs.csv" : fmt::format("jobs-{}.csv", draw + 1);
}

Json write_training_workload_from_log(const TrainingWorkloadOptions& options) {
  LogReader log(options.log);
  const FittedScenario fit = fit_scenario(log);
  if (fit.jobs.empty()) throw InputError(options.log, "a decision log with running jobs", "none");
  Json deciders = Json::object();
  for (const auto& [name, count] : fit.deciders) deciders[name] = count;
  const Json summary = {
      {"decisions", fit.decisions},
      {"decided_by", deciders},
      {"zero_s", fit.zero_s},
      {"begin_s", fit.begin_s},
      {"end_s", fit.end_s},
      {"last_submit_s", 1e-6 * static_cast<double>(fit.jobs.back().job.submit_us)},
      {"jobs", fit.jobs.size()},
      {"finished", fit.finished},
      {"gone", fit.gone},
      {"censored", fit.censored},
      {"extrapolated", fit.jobs_with_doubled_work()},
      {"never_ran", fit.never_ran},
      {"may_preempt", fit.may_preempt},
      {"draws", options.draws},
      {"seed", options.seed},
      {"observed", observed(fit)},
      {"sha256", sha256_of(log)}};
  const fs::path folder = options.out;
  fs::create_directories(folder);
  AtomicFiles files;
  for (int draw = 0; draw < options.draws; ++draw) {
    files.add(folder / logged_jobs_file_name(draw), to_native_csv(fit.trace(options.seed, draw)));
  }
  files.add(folder / "cluster.yaml", fit.cluster_yaml);
  files.add(folder / "log.json", sim::json_text(summary));
  files.commit();
  print_log_damage(log);
  return summary;
}

void write_and_print_training_workload_from_log(const TrainingWorkloadOptions& options) {
  const Json fit = write_training_workload_from_log(options);
  if (options.json) return print_json(fit);
  const auto count = [&](const char* key) { return fit.at(key).get<uint64_t>(); };
  print_to(
      stdout,
      "{} jobs: {} finished, {} gone, {} unfinished at the end, {} of these running longer than "
      "any that ended; {} more left before running\n",
      count("jobs"), count("finished"), count("gone"), count("censored"), count("extrapolated"),
      count("never_ran"));
}

}  // namespace yard
