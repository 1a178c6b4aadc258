#include "experiments/programs/serve/drift_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "env/base/core/error.h"
#include "env/base/core/unix_time.h"
#include "experiments/evaluate/score_policies.h"
#include "experiments/programs/serve/log_learn.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/stats/intervals.h"

namespace yard {
namespace {

namespace pb = ::yardmaster::v1;
namespace fs = std::filesystem;

constexpr int64_t kMaxBlocks = 24;
// Fewest independent blocks of time, after neighbours that behave alike were merged, for an
// interval that can be trusted.
constexpr int kMinBlocks = 6;

InputError no_jobs(const DriftOptions& options) {
  return InputError(
      options.log,
      fmt::format("jobs that were submitted in the last {:g} days and have ended", options.days),
      "none");
}

// One scenario for each draw of unknown run times. Jobs that ended in the log are scored. Throws
// InputError if no job was submitted in these days.
std::vector<Scenario> load_draws(const fs::path& folder, const nlohmann::ordered_json& fit,
                                 const DriftOptions& options) {
  constexpr double kDayS = 86'400;
  const double from_s = std::max(fit.at("begin_s").get<double>(),
                                 fit.at("end_s").get<double>() - options.days * kDayS);
  if (fit.at("last_submit_s").get<double>() < from_s) throw no_jobs(options);
  std::vector<Scenario> out;
  for (int draw = 0; draw < options.draws; ++draw) {
    ScenarioOptions how;
    how.trace = (folder / logged_jobs_file_name(draw)).string();
    how.cluster = (folder / "cluster.yaml").string();
    how.window.from = fmt::format("{}", from_s);
    how.window.after = ArrivalsAfterWindow::kTraceOnly;
    how.skip_unusable = true;  // the cluster may have shrunk since
    Scenario& scenario = out.emplace_back(load_scenario(how));
    if (!fit.at("may_preempt").get<bool>()) scenario.allow({.preempt = false, .move = false});
    for (Job& job : scenario.trace.jobs) job.scored = job.scored && job.logged_end_us >= 0;
  }
  return out;
}

pb::DriftReport::Rival compare(const PolicyScore& rival, const PolicyScore& served, int rivals) {
  const BlockSums sums =
      merge_correlated({.ours = {rival.block_jct_s}, .theirs = served.block_jct_s});
  // By chance alone, one of many rivals may look better: each one gets its part of the 5 %.
  const Interval interval = ratio_interval(sums, 1 - (1 - kConfidence) / rivals);
  pb::DriftReport::Rival out;
  out.set_policy(rival.name);
  out.set_ratio(sums.ratio());
  out.set_judged(sums.blocks() >= kMinBlocks && rival.unfinished == 0 && served.unfinished == 0);
  if (std::isfinite(interval.lo)) out.set_lo(interval.lo);
  if (std::isfinite(interval.hi)) out.set_hi(interval.hi);
  return out;
}

}  // namespace

pb::DriftReport compare_with_rivals(const DriftOptions& options) {
  const fs::path folder = fs::path(options.log) / "drift";
  const nlohmann::ordered_json fit = write_training_workload_from_log(
      {.log = options.log, .out = folder.string(), .draws = options.draws, .seed = options.seed});
  std::vector<Scenario> draws = load_draws(folder, fit, options);
  const auto jobs = std::ranges::count(draws.front().trace.jobs, true, &Job::scored);
  if (jobs == 0) throw no_jobs(options);
  std::vector<PolicySpec> specs;
  specs.push_back(make_policy_spec(options.served, {}));
  for (const std::string& rival : options.rivals) specs.push_back(make_policy_spec(rival, {}));
  std::vector<const PolicySpec*> all;
  for (const PolicySpec& spec : specs) {
    if (is_oracle_bound(spec.prepared.level)) {
      throw InputError("--against", "policies for live clusters", "'" + spec.name + "'");
    }
    all.push_back(&spec);
  }
  const std::vector<PolicyScore> scores =
      score_policies(draws.front(), draws, all, kMaxBlocks, {}, {});

  pb::DriftReport out;
  out.set_unix_s(unix_now_s());
  out.set_served(options.served);
  out.set_winner(options.served);
  out.set_days(options.days);
  out.set_jobs(static_cast<uint32_t>(jobs));
  out.set_draws(static_cast<uint32_t>(options.draws));
  out.set_mean_jct_s(scores.front().mean_jct_s);
  double best = 1;
  for (size_t i = 0; i < options.rivals.size(); ++i) {
    const auto rivals = static_cast<int>(options.rivals.size());
    pb::DriftReport::Rival& rival = *out.add_rivals() =
        compare(scores[i + 1], scores.front(), rivals);
    rival.set_policy(options.rivals[i]);
    if (!rival.judged() || rival.hi() >= 1 || rival.ratio() >= best) continue;
    best = rival.ratio();
    out.set_winner(rival.policy());
  }
  return out;
}

std::string text_of(const pb::DriftReport& report) {
  std::string out = fmt::format("{} jobs of the last {:g} days; mean JCT under {}: {:.0f} s\n",
                                report.jobs(), report.days(), report.served(), report.mean_jct_s());
  for (const pb::DriftReport::Rival& rival : report.rivals()) {
    out += fmt::format("  {}: {:.3f} times that mean", rival.policy(), rival.ratio());
    out += rival.judged() ? fmt::format(" [{:.3f}, {:.3f}]\n", rival.lo(), rival.hi())
                          : std::string(", on too few jobs to judge\n");
  }
  return out;
}

}  // namespace yard
