#include "experiments/contest.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "env/base/interrupt.h"
#include "experiments/parallel.h"

namespace yard {
namespace {

constexpr double kUsPerS = 1e6;
constexpr int64_t kJobsPerBlock = 40;
constexpr int32_t kMostGpus[] = {1, 4, 8, 16};  // upper limits of all classes but the last
constexpr const char* kClassNames[kSizeClasses] = {"1", "2-4", "5-8", "9-16", ">16"};

double told(const std::optional<int64_t>& count) {
  return count ? static_cast<double>(*count) : std::numeric_limits<double>::quiet_NaN();
}

using JobIndex = std::unordered_map<std::string_view, int64_t>;  // of scored jobs, by id

// Adds one replica to the score, weighted by `share`.
void add(const Scenario& replica, const Run& run, const JobIndex& index, double share,
         Score& score) {
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
  score.moves += share * told(s.moves);
  score.soon_again += share * told(s.soon_again);
  if (s.early) score.ended_early += share * static_cast<double>(s.early->jobs);
  score.unfinished += s.all.jobs - s.all.finished;
  score.decisions += static_cast<double>(run.outcome.decisions);
  score.core_s += run.core_s;
}

}  // namespace

int size_class_of(int32_t gpus) {
  const auto* it = std::lower_bound(std::begin(kMostGpus), std::end(kMostGpus), gpus);
  return static_cast<int>(it - std::begin(kMostGpus));
}

const char* size_class_name(int size_class) { return kClassNames[size_class]; }

int64_t num_blocks(int64_t jobs, int64_t most) {
  return std::clamp<int64_t>(jobs / kJobsPerBlock, 1, most);
}

std::vector<Score> play(const Scenario& scenario, const std::vector<Scenario>& replicas,
                        const std::vector<const Entrant*>& entrants, int64_t most_blocks,
                        const WhenScored& when_scored, const WhenPlayed& when_played) {
  JobIndex index;
  for (const Job& job : scenario.trace.jobs) {
    if (job.scored) index.emplace(job.id, static_cast<int64_t>(index.size()));
  }
  const size_t per = replicas.size();
  const auto blocks =
      static_cast<size_t>(num_blocks(static_cast<int64_t>(index.size()), most_blocks));
  std::vector<Score> scores(entrants.size());
  std::vector<std::vector<Run>> runs(entrants.size(), std::vector<Run>(per));
  std::vector<size_t> played(entrants.size(), 0);
  std::mutex mutex;
  for_each_index(static_cast<int>(entrants.size() * per), [&](int i) {
    throw_if_interrupted();
    const size_t who = static_cast<size_t>(i) / per, r = static_cast<size_t>(i) % per;
    const Entrant& entrant = *entrants[who];
    Run run = run_prepared(replicas[r], entrant.contestant, entrant.options);
    const double wall_s = run.wall_s;
    bool last = false;
    {
      const std::lock_guard lock(mutex);
      runs[who][r] = std::move(run);
      last = ++played[who] == per;
      if (when_played) when_played(entrant, wall_s);
    }
    if (!last) return;
    Score& score = scores[who];
    score.name = entrant.name;
    score.level = entrant.contestant.level;
    score.speeds = entrant.options.speeds;
    score.block_jct_s.assign(blocks, 0);
    for (size_t k = 0; k < per; ++k) {  // fixed order: sums do not depend on threads
      add(replicas[k], runs[who][k], index, 1.0 / static_cast<double>(per), score);
    }
    runs[who].clear();
    if (when_scored) when_scored(who, score);
  });
  return scores;
}

}  // namespace yard
