// gap: measures how far policies are from the optimal schedule of tiny instances, which is found by
// exhaustive search (experiments/evaluate/best_schedule.h).
#include <cstdio>

#include "experiments/cli/command.h"
#include "experiments/evaluate/best_schedule.h"
#include "experiments/programs/sim/option_checks.h"
#include "experiments/report/text_table.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

// Simulated seconds per step: several times any policy's timer, so that timers do not matter.
constexpr int kStepS = 3600;

struct Instance {
  Scenario scenario;
  double optimal_s;
};

struct Gap {
  double mean = 0, worst = 0;  // total JCT / optimal total JCT - 1
  int optimal = 0;             // number of instances solved optimally
};

Instance make_instance(uint64_t seed, int number, int gpus) {
  const std::vector<TinyJob> tiny = draw_tiny_jobs(Rng(seed).split(static_cast<uint64_t>(number)),
                                                   static_cast<uint32_t>(gpus), false);
  Trace trace;
  trace.source = "synthetic:tiny";
  for (const TinyJob& job : tiny) {
    Job& made = trace.jobs.emplace_back();
    made.id = std::to_string(trace.jobs.size());
    made.user = "user" + made.id;
    made.gpus = job.gpus;
    made.submit_us = int64_t{job.submit} * kStepS * 1'000'000;
    made.run_us = int64_t{job.run} * kStepS * 1'000'000;
  }
  const Window window{.scored = static_cast<int64_t>(tiny.size())};
  return {Scenario(std::move(trace), window, load_cluster("1x" + std::to_string(gpus)), 0),
          static_cast<double>(OptimalScheduleSearch(tiny, gpus).total()) * kStepS};
}

Gap gap_of(const PreparedPolicy& prepared, const RunOptions& how,
           const std::vector<Instance>& instances) {
  constexpr double kTolerance = 1e-9;
  Gap gap;
  for (const Instance& one : instances) {
    const JctSummary all = run_prepared(one.scenario, prepared, how).summary.all;
    const double gap_share = static_cast<double>(all.sum_jct_us) / 1e6 / one.optimal_s - 1;
    gap.mean += gap_share / static_cast<double>(instances.size());
    gap.worst = std::max(gap.worst, gap_share);
    gap.optimal += gap_share < kTolerance;
  }
  return gap;
}

int run_gap(CLI::App& app, int argc, char** argv) {
  std::string policies;
  int gpus = 4, count = 200;
  uint64_t seed = 1;
  bool json = false;
  app.option_defaults()->group("Policies");
  app.add_option("--policy", policies, "comma-separated policies to measure")
      ->type_name(kPoliciesType)
      ->required();
  app.option_defaults()->group("Instances");
  app.add_option("--gpus", gpus, "GPUs of the single node")->check(whole_number(1));
  app.add_option("--instances", count, "number of instances, of up to four jobs each")
      ->check(whole_number(1));
  app.add_option("--seed", seed, "seed of the instances")->check(whole_number<uint64_t>(0));
  app.option_defaults()->group("Output");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster gap --policy fifo,srtf --gpus 4 --instances 50"});
  if (!parse_arguments(app, argc, argv)) return 0;
  check_range("--gpus", gpus, 1, kMaxGpusPerNode);
  RunOptions how;
  how.seed = seed;
  std::vector<PreparedPolicy> prepared_policies;
  const std::vector<std::string> names = split_policies(policies, "--policy");
  check_policies(names, how.rules, "--policy");
  for (const std::string& name : names) prepared_policies.push_back(prepare(name, how));
  std::vector<Instance> instances;
  for (int i = 0; i < count; ++i) instances.push_back(make_instance(seed, i, gpus));
  Json out = {{"gpus", gpus}, {"instances", count}, {"seed", seed}, {"gaps", Json::array()}};
  if (!json) std::printf("%d instances of up to 4 jobs on %d GPUs, all costs 0\n\n", count, gpus);
  TextTable table({"policy", "information", "mean gap", "worst", "optimal"}, 2);
  for (const PreparedPolicy& prepared : prepared_policies) {
    const Gap gap = gap_of(prepared, how, instances);
    out["gaps"].push_back({{"policy", prepared.name},
                           {"information", information_level_name(prepared.level)},
                           {"mean", gap.mean},
                           {"worst", gap.worst},
                           {"optimal", gap.optimal}});
    table.row({prepared.name, information_level_name(prepared.level), percent_text(gap.mean, 2),
               percent_text(gap.worst, 2), std::to_string(gap.optimal)});
  }
  std::fputs(json ? (out.dump(2) + "\n").c_str() : table.text().c_str(), stdout);
  return 0;
}

const Command kGap{
    "gap", "Measure how far policies are from the optimal schedules of tiny instances.", run_gap};

}  // namespace
}  // namespace yard::sim
