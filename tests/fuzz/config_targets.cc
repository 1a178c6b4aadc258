// Settings of a run, and fitted workload models.
#include <set>

#include "env/base/config/settings.h"
#include "env/trace/fitted/workload_model.h"
#include "tests/fuzz/targets.h"

namespace yard::testing {
namespace {

bool try_settings(std::string_view text) {
  const std::string path = write_input_file("run.yaml", text);
  const auto settings = read_or_refused({path}, [&] { return Settings::from_yaml(path); });
  if (!settings) return false;
  std::set<std::string> keys;
  for (const GivenSetting& one : settings->entries()) {
    YARD_CHECK(keys.insert(one.key).second, "a key twice");
    YARD_CHECK(one.origin.starts_with(path + ":"), "no place of " + one.key);
  }
  return true;
}

bool try_like(std::string_view text) {
  const auto model =
      read_or_refused({"fuzz"}, [&] { return parse_workload_model(std::string(text), "fuzz"); });
  if (!model) return false;
  int64_t before_us = 0;
  const auto jobs = read_or_refused({""}, [&] { return sample_workload(*model, {.jobs = 20}); });
  if (!jobs) return true;
  for (const Job& job : *jobs) {
    YARD_CHECK(job.submit_us >= before_us, "jobs out of order");
    before_us = job.submit_us;
    YARD_CHECK(job.run_us >= 0 && job.gpus >= 0, "a job without a run time");
  }
  return true;
}

// A minimal workload model: two sizes, and the habits of two users.
std::string small_model() {
  WorkloadModel model;
  model.to_s = 864000;
  model.jobs = 100;
  model.owner = "user";
  model.mean_gpu_s = 5000;
  model.week.assign(WorkloadModel::kWeekHours, 1);
  model.memory.assign(WorkloadModel::kMemory.size(), 0.2);
  model.sizes = {{1, 0.75}, {4, 0.25}};
  SizeClass one;
  one.most_gpus = 4;
  one.jobs = 100;
  one.together.apart.assign(WorkloadModel::kRepeatSd.size(), 0.25);
  one.run_s.knots = {1, 5, 9};
  one.batch_jobs.knots = {0, 1};
  one.limit_s.knots = {8, 11};
  model.classes = {one};
  model.gap_s.knots = {0, 4};
  return to_text(model);
}

constexpr const char* kSettings =
    "policy: sjf  # shortest first\n"
    "faults:\n"
    "  node_mtbf_h: 200\n"
    "  kinds: [fail, drain]\n"
    "trace: {window: 0-50%, seed: 7, tenants: [a, 'b c'], empty: }\n";

}  // namespace

std::vector<Target> config_targets() {
  return {{"settings", kSettings, try_settings, 200}, {"like", small_model(), try_like, 300}};
}

}  // namespace yard::testing
