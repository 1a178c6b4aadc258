#include "experiments/train/off_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/replay/load_scenario.h"
#include "experiments/replay/replay.h"
#include "experiments/run/parallel.h"
#include "experiments/stats/mean_by_time.h"
#include "experiments/train/logged_data.h"
#include "policies/learned/checkpoint.h"
#include "policies/policy.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kJobsPerBlock = 10;  // of importance sampling; small, since short blocks agree more

double seconds(int64_t us) { return 1e-6 * static_cast<double>(us); }

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json mean_json(const MeanWithBlockInterval& mean) {
  return {{"mean_jct_s", number(mean.mean)},
          {"interval", {number(mean.interval.lo), number(mean.interval.hi)}},
          {"jobs", mean.jobs},
          {"blocks", mean.blocks},
          {"draw_sd", mean.draw_sd}};
}

// The jobs of the log which count, by submission. They are the same in every draw.
struct CountedJobs {
  std::vector<size_t> job;       // index in the draws' traces
  std::vector<double> submit_s;  // on the trace's clock
  std::vector<double> jct_s;     // in the log; NaN: not ended

  std::vector<double> ended(const std::vector<double>& of_all) const {
    std::vector<double> out;
    for (size_t i = 0; i < job.size(); ++i) {
      if (std::isfinite(jct_s[i])) out.push_back(of_all[i]);
    }
    return out;
  }
};

class FittedSimulator {
 public:
  FittedSimulator(const DecisionLogTrainingFiles& log, const OffPolicyOptions& options)
      : log_(log) {
    for (int d = 0; d < options.draws; ++d) {
      ScenarioOptions o;
      o.trace = log.jobs(d).string();
      o.cluster = log.cluster().string();
      o.cost_scale = options.cost_scale;
      Scenario& world = draws_.emplace_back(load_scenario(o));
      if (!log.fit().value("may_preempt", true)) world.allow({.preempt = false, .move = false});
    }
    const double begin_s = log.fit().at("begin_s");
    const std::vector<Job>& jobs = draws_.front().trace.jobs;
    for (size_t j = 0; j < jobs.size(); ++j) {
      const double submit_s = seconds(jobs[j].submit_us);
      if (submit_s < begin_s) continue;
      counted_.job.push_back(j);
      counted_.submit_s.push_back(submit_s);
      const int64_t end_us = jobs[j].logged_end_us;
      counted_.jct_s.push_back(end_us < 0 ? std::nan("")
                                          : std::max(1e-6, seconds(end_us) - submit_s));
    }
  }

  const CountedJobs& counted() const { return counted_; }

  // Simulates a policy on every draw. Returns JCTs in seconds (draws, counted jobs).
  std::vector<std::vector<double>> simulate(const std::string& policy) const {
    std::vector<std::vector<double>> out(draws_.size());
    parallel_for_each_index(static_cast<int>(draws_.size()), [&](int d) {
      const Scenario& world = draws_[static_cast<size_t>(d)];
      const RunOptions options;
      const Run run = run_prepared(world, prepare(policy, options), options);
      for (const size_t j : counted_.job) {
        const int64_t jct_us = run.outcome.jobs[j].end_us - world.trace.jobs[j].submit_us;
        out[static_cast<size_t>(d)].push_back(std::max(1e-6, seconds(jct_us)));
      }
    });
    return out;
  }

  // ln(simulated / observed mean JCT) of the log's own policy. Nothing unless a single registered
  // heuristic, which needs at most history, made all decisions.
  std::optional<double> fit_error() const {
    const Json& deciders = log_.fit().at("decided_by");
    if (deciders.size() != 1) return std::nullopt;
    const std::string name = deciders.begin().key();
    const std::vector<std::string> known = PolicyRegistry::names();
    if (std::ranges::find(known, name) == known.end()) return std::nullopt;
    if (PolicyRegistry::info(name).level > InformationLevel::kHistory) return std::nullopt;
    const std::vector<double> observed = counted_.ended(counted_.jct_s);
    if (observed.empty()) return std::nullopt;
    std::vector<std::vector<double>> simulated = simulate(name);
    for (std::vector<double>& draw : simulated) draw = counted_.ended(draw);
    return std::log(mean_with_block_interval(simulated).mean /
                    mean_with_block_interval({observed}).mean);
  }

 private:
  const DecisionLogTrainingFiles& log_;
  std::vector<Scenario> draws_;
  CountedJobs counted_;
};

// Weighted (self-normalised) importance sampling. The weight w_b of a block of jobs is the product
// over its decisions of the action's probability under the new, greedy policy (0 or 1) divided by
// that in the log. J_b is the block's mean JCT. Returns null with fewer than 2 blocks.
//   V = sum_b w_b J_b / sum_b w_b        ESS = (sum_b w_b)^2 / sum_b w_b^2
// (Precup, Sutton and Singh, "Eligibility traces for off-policy policy evaluation", 2000)
Json importance_sampling(const CountedJobs& jobs, const Checkpoint& checkpoint,
                         const RecordedChoices& choices, double begin_s) {
  std::map<int32_t, double> at_s, probability;
  for (size_t i = 0; i < choices.action.size(); ++i) {
    at_s[choices.decision[i]] = static_cast<double>(choices.time_s[i]);
    probability[choices.decision[i]] = static_cast<double>(choices.probability[i]);
  }
  for (size_t m = 0; m < choices.missed_decision.size(); ++m) {
    at_s[choices.missed_decision[m]] = static_cast<double>(choices.missed_time_s[m]);
  }
  const Agreement agreement = agreement_of(checkpoint, choices);
  std::vector<double> jct_s, submit_s;
  const auto first_s = static_cast<double>(choices.time_s.front());  // no choices before
  for (size_t i = 0; i < jobs.job.size(); ++i) {
    const double since_s = jobs.submit_s[i] - begin_s;
    if (!std::isfinite(jobs.jct_s[i]) || since_s < first_s) continue;
    jct_s.push_back(jobs.jct_s[i]);
    submit_s.push_back(since_s);
  }
  const size_t blocks = jct_s.size() / kJobsPerBlock;
  if (blocks < 2) return nullptr;
  std::vector<double> log_weight(blocks, 0), sum(blocks, 0), count(blocks, 0), begins(blocks);
  for (size_t i = jct_s.size(); i-- > 0;) {
    const size_t b = i * blocks / jct_s.size();
    sum[b] += jct_s[i];
    count[b] += 1;
    begins[b] = submit_s[i];
  }
  for (const auto& [number, reproduced] : agreement.by_decision) {
    const double s = at_s[number];
    const auto after = std::upper_bound(begins.begin() + 1, begins.end(), s);
    const auto b = static_cast<size_t>(after - begins.begin() - 1);
    const auto p = probability.find(number);
    log_weight[b] += reproduced && p != probability.end() ? -std::log(p->second) : -INFINITY;
  }
  const double highest = *std::ranges::max_element(log_weight);
  double weights = 0, squares = 0, value = 0;
  for (size_t b = 0; b < blocks && std::isfinite(highest); ++b) {
    const double w = std::exp(log_weight[b] - highest);
    weights += w;
    squares += w * w;
    value += w * sum[b] / count[b];
  }
  const double effective = weights > 0 ? weights * weights / squares : 0;
  return {{"mean_jct_s", weights > 0 ? Json(value / weights) : Json()},
          {"effective_sample_size", effective},
          {"blocks", blocks}};
}

bool is_stochastic(const RecordedChoices& choices) {
  return std::ranges::any_of(choices.probability, [](float p) { return p < 1; });
}

Json agreement_json(const Agreement& a) {
  return {{"recovered", a.agreement_share()},
          {"steps", a.steps},
          {"agreed", a.agreed},
          {"acts", a.action_steps},
          {"acts_agreed", a.action_steps_agreed},
          {"decisions", a.decisions},
          {"whole", a.reproduced},
          {"missed", a.unrepresentable}};
}

}  // namespace

Json off_policy_estimates(const fs::path& checkpoint, const DecisionLogTrainingFiles& log,
                          const RecordedChoices* choices, const OffPolicyOptions& options) {
  const FittedSimulator fitted(log, options);
  const CountedJobs& counted = fitted.counted();
  Json out = {{"log", nullptr}, {"value", nullptr}, {"of_ended", nullptr}, {"fit_error", nullptr}};
  const Json& fit = log.fit();
  out["jobs"] = {{"counted", counted.job.size()},
                 {"finished", fit.at("finished")},
                 {"gone", fit.at("gone")},
                 {"censored", fit.at("censored")}};
  if (counted.job.empty()) return out;
  const std::vector<double> observed = counted.ended(counted.jct_s);
  if (!observed.empty()) out["log"] = mean_json(mean_with_block_interval({observed}));
  const std::optional<double> error = fitted.fit_error();
  if (error) out["fit_error"] = *error;
  std::vector<std::vector<double>> simulated = fitted.simulate("checkpoint:" + checkpoint.string());
  out["value"] = mean_json(mean_with_block_interval(simulated, error.value_or(0)));
  for (std::vector<double>& draw : simulated) draw = counted.ended(draw);
  if (!observed.empty())
    out["of_ended"] = mean_json(mean_with_block_interval(simulated, error.value_or(0)));
  if (choices == nullptr) return out;
  const Checkpoint read = load_checkpoint(checkpoint);
  out["agreement"] = agreement_json(agreement_of(read, *choices));
  if (is_stochastic(*choices))
    out["weighted"] = importance_sampling(counted, read, *choices, fit.at("begin_s"));
  return out;
}

std::string off_policy_text(const Json& found) {
  const auto line = [&](const char* key, const std::string& what) -> std::string {
    if (!found.contains(key) || found.at(key).is_null()) return "";
    const Json& mean = found.at(key);
    const Json& interval = mean.at("interval");
    const std::string within =
        interval[0].is_null()
            ? "too few jobs for an interval"
            : fmt::format("{:.0f} to {:.0f}", interval[0].get<double>(), interval[1].get<double>());
    return fmt::format("  {:<44} {:>10.0f} s  ({}; {} jobs)\n", what,
                       mean.at("mean_jct_s").get<double>(), within, mean.at("jobs").get<int64_t>());
  };
  std::string out = "mean JCT during the log:\n";
  out += line("log", "log, jobs that ended in it");
  out += line("of_ended", "this policy, same jobs, simulated");
  out += line("value", "this policy, all jobs, simulated");
  if (found.contains("weighted") && !found.at("weighted").is_null()) {
    const Json& w = found.at("weighted");
    out += fmt::format("  {:<44} {:>10} s  (effective sample size {:.1f} of {} blocks)\n",
                       "this policy, by importance sampling",
                       w.at("mean_jct_s").is_null()
                           ? "-"
                           : fmt::format("{:.0f}", w.at("mean_jct_s").get<double>()),
                       w.at("effective_sample_size").get<double>(), w.at("blocks").get<int64_t>());
  }
  return out;
}

}  // namespace yard
