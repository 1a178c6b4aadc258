// Fits optional data: users' limits, how jobs ended, and what they need besides GPUs.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "env/trace/fitted/fit_steps.h"
#include "env/trace/fitted/workload_sampling.h"

namespace yard {
namespace {

constexpr int64_t kMinOccurrences = 5;  // rarer values could identify users
constexpr size_t kMaxUsual = 200;

// Returns the limits that at least five jobs have, at most the 200 most common.
std::vector<double> usual_limits(const std::vector<Job>& jobs) {
  std::map<int64_t, int64_t> count;
  for (const Job& job : jobs) {
    if (job.limit_us >= 0) ++count[job.limit_us];
  }
  std::vector<std::pair<int64_t, int64_t>> common;
  for (const auto& [limit_us, n] : count) {
    if (n >= kMinOccurrences) common.emplace_back(n, limit_us);
  }
  std::ranges::sort(common, std::greater<>());
  if (common.size() > kMaxUsual) common.resize(kMaxUsual);
  std::vector<double> usual;
  for (const auto& [n, limit_us] : common) usual.push_back(seconds(limit_us));
  std::ranges::sort(usual);
  return usual;
}

// Fits the share of jobs that reach their limit, to within 1 %. Up to 5 % over counts too, since
// schedulers may be slow to stop jobs.
void fit_timeouts(const FitData& data, WorkloadModel& model) {
  constexpr double kMinUsed = 0.99, kMaxUsed = 1.05;
  std::array<double, WorkloadModel::kLengths> out{}, all{};
  for (size_t j = 0; j < data.jobs.size(); ++j) {
    const Job& job = data.jobs[j];
    if (job.limit_us <= 0) continue;
    const double used = static_cast<double>(job.run_us) / static_cast<double>(job.limit_us);
    const size_t length = run_time_decile(data.run_scores[j]);
    all[length] += 1;
    out[length] += used >= kMinUsed && used <= kMaxUsed ? 1 : 0;
  }
  for (size_t l = 0; l < all.size(); ++l) model.timeouts.push_back(clamped_ratio(out[l], all[l]));
}

// A batch's limit is that of its first job.
void fit_limits(const FitData& data, WorkloadModel& model) {
  const auto limited = [](const Job& job) { return job.limit_us >= 0; };
  if (2 * std::ranges::count_if(data.jobs, limited) < std::ssize(data.jobs)) return;
  model.limits_s = usual_limits(data.jobs);
  fit_timeouts(data, model);
  std::vector<SizeClassValues> limits(model.classes.size());
  for (size_t j = 0; j < data.jobs.size(); ++j) {
    const Job& job = data.jobs[j];
    if (limited(job)) limits[size_class_index(model, job.gpus)].add(j, seconds(job.limit_us));
  }
  std::vector<double> scores(data.jobs.size(), NAN), batch_scores;
  for (size_t c = 0; c < limits.size(); ++c) {
    if (limits[c].values.empty()) continue;
    model.classes[c].limit_s = quantiles_of(limits[c].values);
    limits[c].score(scores);
  }
  // Sums over batches. The covariance of the limit's score with the mean run score is attributed to
  // what run times of a batch have in common; a part of that is due to owners.
  double products = 0, n = 0, sum = 0, run_sum = 0, common = 0, of_owner = 0;
  for (const SubmissionBatches::Batch& batch : data.batches.all) {
    const double score = scores[static_cast<size_t>(batch.jobs.front())];
    batch_scores.push_back(score);
    if (std::isnan(score)) continue;
    double run = 0;
    for (const int32_t j : batch.jobs) run += data.run_scores[static_cast<size_t>(j)];
    run /= static_cast<double>(batch.jobs.size());
    products += score * run, sum += score, run_sum += run, n += 1;
    const RunTimeSimilarity& together = class_of(model, batch.gpus).together;
    common += std::sqrt(together.owner + together.batch);
    of_owner += clamped_ratio(together.owner, together.owner + together.batch);
  }
  if (common <= 0) return;
  const double covariance = products - sum * run_sum / n;
  model.limit_with_run = std::clamp(covariance / common, -0.95, 0.95);
  const double of_run = model.limit_with_run * model.limit_with_run;
  model.limit_owner = clamped_ratio(
      owner_variance_share(data.batches, batch_scores) - of_run * of_owner / n, 1 - of_run);
}

void fit_statuses(const FitData& data, WorkloadModel& model) {
  std::map<std::string, std::array<double, WorkloadModel::kLengths>> counts;
  std::array<double, WorkloadModel::kLengths> all{};
  for (size_t j = 0; j < data.jobs.size(); ++j) {
    if (data.jobs[j].status.empty()) continue;
    counts[data.jobs[j].status][run_time_decile(data.run_scores[j])] += 1;
  }
  std::erase_if(counts, [](const auto& one) {
    return std::accumulate(one.second.begin(), one.second.end(), 0.0) < kMinOccurrences;
  });
  for (const auto& [status, by_length] : counts) {
    model.statuses.push_back(status);
    for (size_t l = 0; l < all.size(); ++l) all[l] += by_length[l];
  }
  for (size_t l = 0; l < all.size(); ++l) {
    for (const auto& [status, by_length] : counts) {
      model.status_shares.push_back(all[l] > 0 ? by_length[l] / all[l]
                                               : 1.0 / static_cast<double>(counts.size()));
    }
  }
}

using Needs = std::tuple<int32_t, std::string, int32_t, std::vector<std::string>, std::string>;

// Returns a key of everything that distinguishes kinds.
Needs needs_of(const Job& job) {
  std::string groups;
  for (const RoleGroup& g : job.groups) {
    const Resources& r = g.task;
    groups += g.role;
    for (const double v :
         {1.0 * g.count, 1.0 * g.min_count, 1.0 * g.max_count, 1.0 * r.gpus, 1.0 * r.gpu_milli,
          r.gpu_mem_gib, 1.0 * r.cpu_milli, static_cast<double>(r.mem_mib), r.nic_gbps}) {
      groups += ' ' + std::to_string(v);
    }
    for (const int32_t after : g.after) groups += '>' + std::to_string(after);
    groups += ';';
  }
  return {job.gpus, job.model, job.batch_size, job.gpu_types, groups};
}

// A batch's kind is that of its first job. Kinds of fewer than five batches are dropped, unless
// their size has no other.
void fit_kinds(const FitData& data, WorkloadModel& model) {
  struct Count {
    int64_t batches = 0, measured = 0;
    double log_ms = 0;  // sum over measured batches
    const Job* job = nullptr;
  };
  std::map<Needs, Count> counts;
  bool any = false;
  for (const SubmissionBatches::Batch& batch : data.batches.all) {
    const Job& job = data.job(batch.jobs.front());
    Count& count = counts[needs_of(job)];
    count.job = &job;
    ++count.batches;
    if (job.iterations > 0 && job.run_us > 0) {
      ++count.measured;
      count.log_ms += std::log(static_cast<double>(job.run_us) * 1e-3 / job.iterations);
    }
    any = any || !job.model.empty() || !job.groups.empty() || !job.gpu_types.empty();
  }
  if (!any) return;
  std::map<int32_t, int64_t> batches_of_size, most_of_size;
  for (const auto& [needs, count] : counts) {
    int64_t& most = most_of_size[std::get<0>(needs)];
    most = std::max(most, count.batches);
  }
  const auto kept = [&](const Needs& needs, const Count& count) {
    return count.batches >= std::min(kMinOccurrences, most_of_size[std::get<0>(needs)]);
  };
  for (const auto& [needs, count] : counts) {
    if (kept(needs, count)) batches_of_size[std::get<0>(needs)] += count.batches;
  }
  const auto share = [&](const Count& count) {
    return static_cast<double>(count.batches) /
           static_cast<double>(batches_of_size[count.job->gpus]);
  };
  for (const auto& [needs, count] : counts) {
    if (!kept(needs, count)) continue;
    const Job& job = *count.job;
    model.kinds.push_back(
        {job.gpus, share(count), job.model, job.batch_size,
         count.measured > 0 ? std::exp(count.log_ms / static_cast<double>(count.measured)) : 0,
         job.gpu_types, job.groups});
  }
  std::map<Needs, int32_t> index;
  std::map<std::pair<int32_t, int32_t>, int32_t> streams;  // by owner and size
  std::vector<ChoiceByOwner> choices;
  for (const SubmissionBatches::Batch& batch : data.batches.all) {
    const Needs needs = needs_of(data.job(batch.jobs.front()));
    const Count& count = counts.at(needs);
    if (!kept(needs, count)) continue;
    const auto number = [](auto& map, const auto& key) {
      return map.try_emplace(key, static_cast<int32_t>(map.size())).first->second;
    };
    choices.push_back(
        {number(streams, std::pair(batch.owner, batch.gpus)), number(index, needs), share(count)});
  }
  model.kind_habit = fit_owner_habit(choices);
}

}  // namespace

void fit_limits_statuses_kinds(const FitData& data, WorkloadModel& model) {
  fit_limits(data, model);
  fit_statuses(data, model);
  fit_kinds(data, model);
}

}  // namespace yard
