// Fits what run times have in common. Some siblings repeat an earlier one almost exactly; the
// others are as alike as jobs of one owner and batch. Expectation-maximisation finds how many
// repeat. Then the shares of owners and batches are adjusted until the model, run on the trace's
// own batches, has the correlations of the trace.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "env/base/core/rng.h"
#include "env/base/os/interrupt.h"
#include "env/trace/fitted/fit_steps.h"
#include "env/trace/fitted/workload_sampling.h"

namespace yard {
namespace {

constexpr size_t kDistances = WorkloadModel::kRepeatSd.size();

double density(double x, double mean, double deviation) {
  const double z = (x - mean) / deviation;
  return std::exp(-0.5 * z * z) / (deviation * 2.5066282746310002);
}

double log_run(const Job& job) { return std::log1p(seconds(job.run_us)); }

// How common run times near a job's are in its class, counting equal ones.
class RunTimeDensity {
 public:
  RunTimeDensity(const FitData& data, const WorkloadModel& model) : model_(model) {
    for (const Job& job : data.jobs) logs_[&class_of(model, job.gpus)].push_back(log_run(job));
    for (auto& [of, logs] : logs_) std::ranges::sort(logs);
  }
  // Returns the density of log(1 + seconds), at least that of one job.
  double of(const Job& job) const {
    constexpr double kNear = 0.01;
    const std::vector<double>& logs = logs_.at(&class_of(model_, job.gpus));
    const double x = log_run(job);
    const auto from = std::ranges::lower_bound(logs, x - kNear);
    const auto to = std::ranges::upper_bound(logs, x + kNear);
    return static_cast<double>(to - from) / static_cast<double>(logs.size()) / (2 * kNear);
  }

 private:
  const WorkloadModel& model_;
  std::map<const SizeClass*, std::vector<double>> logs_;
};

// A job that may repeat others, with the likelihood of its run time in each case.
struct RepeatCandidate {
  std::array<double, kDistances> last, any;  // repeats the job before it, or any recent one
  double fresh;
};

// `score_correlation`: correlation of the scores of jobs that repeat nothing.
RepeatCandidate repeat_candidate(const FitData& data, const RunTimeDensity& common, size_t job,
                                 std::span<const int32_t> before, double score_correlation) {
  RepeatCandidate out{{}, {}, 0};
  before = before.last(std::min<size_t>(before.size(), WorkloadModel::kRecent));
  const auto n = static_cast<double>(before.size());
  const double x = log_run(data.jobs[job]), z = data.run_scores[job];
  // Density of a score given another, over that of any score, times that of any run time.
  const double any = common.of(data.jobs[job]) / density(z, 0, 1);
  for (const int32_t other : before) {
    const auto o = static_cast<size_t>(other);
    for (size_t k = 0; k < kDistances; ++k) {
      out.last[k] = density(x, log_run(data.jobs[o]), WorkloadModel::kRepeatSd[k]);
      out.any[k] += out.last[k] / n;
    }
    out.fresh += any *
                 density(z, score_correlation * data.run_scores[o],
                         std::sqrt(1 - score_correlation * score_correlation)) /
                 n;
  }
  return out;
}

// Shares among candidates, including pseudo-candidates with the distribution of `prior`.
struct Repeats {
  double share = 0.5, last = 0.5;
  std::array<double, kDistances> apart{};
};

Repeats fit_repeats(const std::vector<RepeatCandidate>& candidates, const Repeats* prior) {
  constexpr int kRounds = 50;
  constexpr double kPrior = 50;  // number of pseudo-candidates
  Repeats out;
  out.apart.fill(1.0 / kDistances);
  if (prior != nullptr) out = *prior;
  for (int round = 0; round < kRounds && !candidates.empty(); ++round) {
    const double before = prior != nullptr ? kPrior : 0;
    double repeated = 0, last = 0, all = before + static_cast<double>(candidates.size());
    std::array<double, kDistances> sums{};
    if (prior != nullptr) {
      repeated = kPrior * prior->share;
      last = repeated * prior->last;
      for (size_t k = 0; k < kDistances; ++k) sums[k] = repeated * prior->apart[k];
    }
    for (const RepeatCandidate& one : candidates) {
      std::array<double, kDistances> of_last{}, of_any{};
      double total = (1 - out.share) * one.fresh;
      for (size_t k = 0; k < kDistances; ++k) {
        of_last[k] = out.share * out.apart[k] * out.last * one.last[k];
        of_any[k] = out.share * out.apart[k] * (1 - out.last) * one.any[k];
        total += of_last[k] + of_any[k];
      }
      total = std::max(total, 1e-300);
      for (size_t k = 0; k < kDistances; ++k) {
        sums[k] += (of_last[k] + of_any[k]) / total;
        repeated += (of_last[k] + of_any[k]) / total;
        last += of_last[k] / total;
      }
    }
    out.share = repeated / all;
    if (repeated <= 0) break;
    out.last = last / repeated;
    for (size_t k = 0; k < kDistances; ++k) out.apart[k] = sums[k] / repeated;
  }
  return out;
}

// Fits the shares that repeat, by class. Small classes shrink towards all classes together.
void fit_all_repeats(const FitData& data, const RunTimeDensity& common, WorkloadModel& model) {
  const std::vector<SubmissionBatches::Batch>& batches = data.batches.all;
  std::vector<std::vector<RepeatCandidate>> siblings(model.classes.size()), firsts(siblings.size());
  std::vector<RepeatCandidate> all_siblings, all_firsts;
  for (const SubmissionBatches::Batch& batch : batches) {
    const std::span<const int32_t> jobs = batch.jobs;
    const size_t c = size_class_index(model, batch.gpus);
    const RunTimeSimilarity& t = model.classes[c].together;
    const double score_correlation = std::clamp(t.owner + t.batch, 0.0, 0.95);
    if (batch.before >= 0) {
      firsts[c].push_back(repeat_candidate(data, common, static_cast<size_t>(jobs[0]),
                                           batches[static_cast<size_t>(batch.before)].jobs,
                                           score_correlation));
      all_firsts.push_back(firsts[c].back());
    }
    for (size_t i = 1; i < jobs.size(); ++i) {
      siblings[c].push_back(repeat_candidate(data, common, static_cast<size_t>(jobs[i]),
                                             jobs.first(i), score_correlation));
      all_siblings.push_back(siblings[c].back());
    }
  }
  const Repeats of_siblings = fit_repeats(all_siblings, nullptr);
  const Repeats of_firsts = fit_repeats(all_firsts, nullptr);
  for (size_t c = 0; c < siblings.size(); ++c) {
    RunTimeSimilarity& together = model.classes[c].together;
    const Repeats repeats = fit_repeats(siblings[c], &of_siblings);
    together.repeat_sibling = all_siblings.empty() ? 0 : repeats.share;
    together.repeat_last = repeats.last;
    together.apart.assign(repeats.apart.begin(), repeats.apart.end());
    together.repeat_batch = all_firsts.empty() ? 0 : fit_repeats(firsts[c], &of_firsts).share;
  }
}

// Correlations of the scores of a batch's jobs; of the mean scores of an owner's batches; of the
// means of a batch and the one before it.
struct Correlations {
  double sibling = 0, owner = 0, next = 0;
};

template <class Score>
std::vector<Correlations> correlations(const WorkloadModel& model, const PlannedBatches& plan,
                                       Score score) {
  constexpr double kPrior = 50;  // jobs with a sibling
  const size_t classes = model.classes.size();
  std::vector<GroupVarianceSplit> siblings(classes + 1), owners(classes + 1), next(classes + 1);
  std::vector<double> means(plan.batches.size()), with_sibling(classes);
  std::vector<std::map<int32_t, std::vector<double>>> by_owner(classes + 1);
  for (size_t b = 0; b < plan.batches.size(); ++b) {
    const PlannedBatch& batch = plan.batches[b];
    const size_t c = size_class_index(model, batch.gpus);
    std::vector<double> scores;
    for (int64_t j = batch.first; j < batch.end; ++j) scores.push_back(score(j));
    for (const double s : scores) means[b] += s / static_cast<double>(scores.size());
    with_sibling[c] += static_cast<double>(scores.size() - 1);
    for (const size_t k : {c, classes}) {
      siblings[k].add(scores);
      by_owner[k][batch.owner].push_back(means[b]);
      if (batch.before < 0) continue;
      const std::array<double, 2> pair = {means[static_cast<size_t>(batch.before)], means[b]};
      next[k].add(pair);
    }
  }
  std::vector<Correlations> out(classes + 1);
  for (size_t k = 0; k <= classes; ++k) {
    for (const auto& [owner, group] : by_owner[k]) owners[k].add(group);
    out[k] = {siblings[k].share(), owners[k].share(), next[k].share()};
  }
  const Correlations all = out.back();
  out.pop_back();
  for (size_t c = 0; c < classes; ++c) {
    const double own = with_sibling[c] / (with_sibling[c] + kPrior);
    out[c] = {own * out[c].sibling + (1 - own) * all.sibling,
              own * out[c].owner + (1 - own) * all.owner, own * out[c].next + (1 - own) * all.next};
  }
  return out;
}

// Returns the trace's own batches; `order` receives their jobs.
PlannedBatches plan_of(const SubmissionBatches& batches, std::vector<int32_t>& order) {
  PlannedBatches plan{batches.owners, {}};
  for (const SubmissionBatches::Batch& batch : batches.all) {
    const int64_t first = std::ssize(order);
    order.insert(order.end(), batch.jobs.begin(), batch.jobs.end());
    plan.batches.push_back({.owner = batch.owner,
                            .gpus = batch.gpus,
                            .before = batch.before,
                            .first = first,
                            .end = std::ssize(order)});
  }
  return plan;
}

void match_correlations(const PlannedBatches& plan, const std::vector<Correlations>& wanted,
                        bool owned, WorkloadModel& model) {
  constexpr int kRounds = 15;
  constexpr uint64_t kSamples = 4;
  constexpr double kStep = 0.7;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Correlations> got(wanted.size());
    for (uint64_t s = 0; s < kSamples; ++s) {
      throw_if_interrupted();
      const Rng seed(s);
      RunTimeSampler runs(model, plan, seed);
      for (size_t b = 0; b < plan.batches.size(); ++b) {
        Rng rng = stream_of(seed, SampleStream::kJobs).split(b);
        runs.draw_run_times(b, rng);
      }
      const auto one = correlations(model, plan, [&](int64_t j) { return runs.score(j); });
      for (size_t c = 0; c < got.size(); ++c) {
        got[c].sibling += one[c].sibling / kSamples;
        got[c].owner += one[c].owner / kSamples;
        got[c].next += one[c].next / kSamples;
      }
    }
    for (size_t c = 0; c < got.size(); ++c) {
      RunTimeSimilarity& t = model.classes[c].together;
      double both = t.owner + t.batch + kStep * (wanted[c].sibling - got[c].sibling);
      both = std::clamp(both, 0.0, 0.98);
      const double owner = owned ? t.owner + kStep * (wanted[c].owner - got[c].owner) : 0;
      t.owner = std::clamp(owner, 0.0, both);
      t.batch = both - t.owner;
      const double stay = t.stay + kStep * (wanted[c].next - got[c].next) / std::max(0.1, t.batch);
      t.stay = std::clamp(stay, 0.0, 0.98);
    }
  }
}

}  // namespace

void fit_run_times(const FitData& data, WorkloadModel& model) {
  const RunTimeDensity common(data, model);
  std::vector<int32_t> order;
  const PlannedBatches plan = plan_of(data.batches, order);
  const auto wanted = correlations(model, plan, [&](int64_t j) {
    return data.run_scores[static_cast<size_t>(order[static_cast<size_t>(j)])];
  });
  const bool owned = data.batches.kind != Owner::kNone;
  for (SizeClass& one : model.classes) one.together.batch = 0.5;
  constexpr int kRounds = 2;  // repetitions depend on how alike other jobs are
  for (int round = 0; round < kRounds; ++round) {
    throw_if_interrupted();
    fit_all_repeats(data, common, model);
    match_correlations(plan, wanted, owned, model);
  }
}

}  // namespace yard
