#include "experiments/evaluate/score_policies.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "env/base/os/interrupt.h"
#include "experiments/run/parallel.h"

namespace yard {
namespace {

constexpr double kUsPerS = 1e6;
constexpr int64_t kJobsPerBlock = 40;
constexpr int32_t kClassMaxGpus[] = {1, 4, 8, 16};  // upper limits of all classes but the last
constexpr const char* kClassNames[kSizeClasses] = {"1", "2-4", "5-8", "9-16", ">16"};

double count_or_nan(const std::optional<int64_t>& count) {
  return count ? static_cast<double>(*count) : std::numeric_limits<double>::quiet_NaN();
}

using JobIndex = std::unordered_map<std::string_view, int64_t>;  // of scored jobs, by id

// Adds one replica to the score, weighted by `share`.
void add(const Scenario& replica, const Run& run, const JobIndex& index, double share,
         PolicyScore& score) {
  const auto jobs = static_cast<int64_t>(index.size());
  const auto blocks = static_cast<int64_t>(score.block_jct_s.size());
  std::array<double, kSizeClasses> sum_s{}, count{};
  for (size_t j = 0; j < replica.trace.jobs.size(); ++j) {
    const Job& job = replica.trace.jobs[j];
    const int64_t end_us = run.outcome.jobs[j].end_us;
    if (!job.scored || end_us == kNone) continue;
    const double jct_s = static_cast<double>(end_us - job.submit_us) / kUsPerS;
    score.block_jct_s[static_cast<size_t>(index.at(job.id) * blocks / jobs)] += share * jct_s;
    const auto size_class = static_cast<size_t>(size_class_of(job.gpus));
    sum_s[size_class] += jct_s;
    ++count[size_class];
  }
  for (size_t c = 0; c < kSizeClasses; ++c) {
    if (count[c] > 0) score.class_jct_s[c] += share * sum_s[c] / count[c];
  }
  const Summary& s = run.summary;
  score.mean_jct_s += share * s.all.mean_jct_s;
  score.p99_jct_s += share * s.all.p99_jct_s;
  score.max_wait_s += share * s.all.max_wait_s;
  score.preemptions += share * static_cast<double>(s.preemptions);
  score.migrations += share * count_or_nan(s.migrations);
  score.rapid_repreemptions += share * count_or_nan(s.rapid_repreemptions);
  if (s.early) score.ended_early += share * static_cast<double>(s.early->jobs);
  score.unfinished += s.all.jobs - s.all.finished;
  score.decisions += static_cast<double>(run.outcome.decisions);
  score.core_s += run.core_s;
}

}  // namespace

int size_class_of(int32_t gpus) {
  const auto* it = std::lower_bound(std::begin(kClassMaxGpus), std::end(kClassMaxGpus), gpus);
  return static_cast<int>(it - std::begin(kClassMaxGpus));
}

const char* size_class_name(int size_class) { return kClassNames[size_class]; }

int64_t num_job_blocks(int64_t jobs, int64_t max_blocks) {
  return std::clamp<int64_t>(jobs / kJobsPerBlock, 1, max_blocks);
}

std::vector<PolicyScore> score_policies(const Scenario& scenario,
                                        const std::vector<Scenario>& replicas,
                                        const std::vector<const PolicySpec*>& policy_specs,
                                        int64_t max_blocks, const OnScored& on_scored,
                                        const OnReplayed& on_replayed) {
  JobIndex index;
  for (const Job& job : scenario.trace.jobs) {
    if (job.scored) index.emplace(job.id, static_cast<int64_t>(index.size()));
  }
  const size_t per = replicas.size();
  const auto blocks =
      static_cast<size_t>(num_job_blocks(static_cast<int64_t>(index.size()), max_blocks));
  std::vector<PolicyScore> scores(policy_specs.size());
  std::vector<std::vector<Run>> runs(policy_specs.size(), std::vector<Run>(per));
  std::vector<size_t> played(policy_specs.size(), 0);
  std::mutex mutex;
  parallel_for_each_index(static_cast<int>(policy_specs.size() * per), [&](int i) {
    throw_if_interrupted();
    const size_t p = static_cast<size_t>(i) / per, r = static_cast<size_t>(i) % per;
    const PolicySpec& policy_spec = *policy_specs[p];
    Run run = run_prepared(replicas[r], policy_spec.prepared, policy_spec.options);
    const double wall_s = run.wall_s;
    bool last = false;
    {
      const std::lock_guard lock(mutex);
      runs[p][r] = std::move(run);
      last = ++played[p] == per;
      if (on_replayed) on_replayed(policy_spec, wall_s);
    }
    if (!last) return;
    PolicyScore& score = scores[p];
    score.name = policy_spec.name;
    score.level = policy_spec.prepared.level;
    score.speeds = policy_spec.options.speeds;
    score.block_jct_s.assign(blocks, 0);
    for (size_t k = 0; k < per; ++k) {  // fixed order: sums do not depend on threads
      add(replicas[k], runs[p][k], index, 1.0 / static_cast<double>(per), score);
    }
    runs[p].clear();
    if (on_scored) on_scored(p, score);
  });
  return scores;
}

}  // namespace yard
