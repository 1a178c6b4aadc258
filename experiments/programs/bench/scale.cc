// The default rule set at the scale of a large site, at load 1.2, so that thousands of jobs wait.
#include <fmt/format.h>

#include <array>

#include "experiments/programs/bench/bench.h"
#include "experiments/replay/replay.h"

namespace yard::bench {
namespace {

constexpr std::array<const char*, 4> kPolicies = {"fifo", "greedy", "las", "srtf"};

Scenario site(int jobs, int nodes) {
  // The number of users grows with the site, so that no single user dominates the load.
  return generated_habit_scenario(fmt::format("{}x8", nodes), jobs,
                                  {fmt::format("users={}", std::max(40, nodes / 2)), "load=1.2"});
}

struct TimedScale {
  double wall_s = 1e300;
  int64_t events = 0;
  double mean_waiting = 0;  // mean queue length in jobs, first to last submission
};

TimedScale run_case(const Scenario& scenario, const char* policy, int runs) {
  RunOptions run;
  run.policy.overlay("placement=consolidate", "bench");
  const PreparedPolicy prepared = prepare(policy, run);
  TimedScale out;
  for (int i = 0; i < runs; ++i) {
    const Run done = run_prepared(scenario, prepared, run);
    out.wall_s = std::min(out.wall_s, done.wall_s);
    out.events = done.outcome.events;
    const double span_us = static_cast<double>(scenario.trace.jobs.back().submit_us -
                                               scenario.trace.jobs.front().submit_us);
    double waited_us = 0;
    for (size_t j = 0; j < scenario.trace.jobs.size(); ++j) {
      const Job& job = scenario.trace.jobs[j];
      waited_us += static_cast<double>(done.outcome.jobs[j].end_us - job.submit_us - job.run_us);
    }
    out.mean_waiting = waited_us / span_us;
  }
  return out;
}

// Adds a result whose ratio is the speed-up over real time, the time span of the trace.
void add(Json& results, const std::string& name, const Scenario& scenario, const TimedScale& t) {
  const std::vector<Job>& jobs = scenario.trace.jobs;
  const double span_s = 1e-6 * static_cast<double>(jobs.back().submit_us);
  const auto gangs = std::ranges::count_if(jobs, [](const Job& job) { return job.gpus > 1; });
  add_result(results, name, t.wall_s, "s", span_s / t.wall_s,
             "the time from first to last submission")["detail"] = {
      {"events", t.events},
      {"us_per_event", 1e6 * t.wall_s / static_cast<double>(t.events)},
      {"mean_waiting", t.mean_waiting},
      {"multi_gpu", static_cast<double>(gangs) / static_cast<double>(jobs.size())}};
}

}  // namespace

void bench_100k_jobs(Json& results) {
  const Scenario scenario = site(100'000, 1'250);
  for (const char* policy : kPolicies) {
    add(results, fmt::format("scale_100k_jobs_10k_gpus_{}", policy), scenario,
        run_case(scenario, policy, 3));
  }
}

void bench_million_jobs(Json& results) {
  const Scenario scenario = site(1'000'000, 12'500);
  for (const char* policy : kPolicies) {
    add(results, fmt::format("scale_1m_jobs_100k_gpus_{}", policy), scenario,
        run_case(scenario, policy, 1));
  }
}

void bench_time_per_event_growth(Json& results) {
  const std::array<std::array<int, 2>, 8> sizes = {{{1'000, 125},
                                                    {10'000, 125},
                                                    {100'000, 125},
                                                    {1'000'000, 125},
                                                    {100'000, 8},
                                                    {100'000, 80},
                                                    {100'000, 1'250},
                                                    {100'000, 12'500}}};
  for (const auto& [jobs, nodes] : sizes) {
    const Scenario scenario = site(jobs, nodes);
    for (const char* policy : kPolicies) {
      const TimedScale t = run_case(scenario, policy, 1);
      results.push_back(
          {{"name", fmt::format("growth_{}_jobs_{}_gpus_{}", jobs, 8 * nodes, policy)},
           {"value", 1e6 * t.wall_s / static_cast<double>(t.events)},
           {"unit", "us/event"},
           {"better", "lower"},
           {"detail",
            {{"jobs", jobs},
             {"gpus", 8 * nodes},
             {"policy", policy},
             {"mean_waiting", t.mean_waiting}}}});
    }
  }
}

}  // namespace yard::bench
