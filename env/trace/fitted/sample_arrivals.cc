// Draws arrival times: batches by the profile of the week and its swings, then their jobs.
#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/core/check.h"
#include "env/base/core/normal.h"
#include "env/trace/core/batches.h"
#include "env/trace/fitted/workload_sampling.h"

namespace yard {
namespace {

constexpr double kHourS = 3600;
constexpr double kMaxDelayS = 3600;
constexpr double kBatchGapS = kBatchGapUs * 1e-6;

// Returns, by gap of the plan, the normal score of the number of gaps in its batch.
std::vector<double> number_scores(const PlannedBatches& plan) {
  std::vector<double> numbers;
  for (const PlannedBatch& batch : plan.batches) {
    const auto gaps = static_cast<size_t>(batch.end - batch.first - 1);
    numbers.insert(numbers.end(), gaps, static_cast<double>(gaps));
  }
  return normal_scores(numbers);
}

// Fills in delays of jobs since the start of their batch. Returns the length of each batch.
std::vector<double> fill_gaps(const WorkloadModel& model, const PlannedBatches& plan,
                              const Rng& seed, std::vector<double>& after_s) {
  const std::vector<double> scores = number_scores(plan);
  const double with = model.gap_with_jobs;
  std::vector<double> length_s;
  size_t gap = 0;
  for (size_t b = 0; b < plan.batches.size(); ++b) {
    const auto [begin, end] = std::pair(plan.batches[b].first + 1, plan.batches[b].end);
    Rng rng = stream_of(seed, SampleStream::kGaps).split(b);
    const double common =
        with * (begin < end ? scores[gap] : 0) + std::sqrt(1 - with * with) * rng.normal();
    gap += static_cast<size_t>(end - begin);
    double at_s = 0;
    for (int64_t j = begin; j < end; ++j) {
      const double score =
          std::sqrt(model.gap_batch) * common + std::sqrt(1 - model.gap_batch) * rng.normal();
      at_s += std::min(model.gap_s.at(clamped_normal_cdf(score)), kBatchGapS - 1);
      after_s[static_cast<size_t>(j)] = at_s;
    }
    length_s.push_back(at_s);
  }
  return length_s;
}

// Start times when batches have owners: a Poisson process, that is, independent times for a given
// number. An owner's batch waits until its previous batch of the same size has ended, since the two
// would merge, but at most an hour.
std::vector<double> owned_starts(const PlannedBatches& plan, const ArrivalTimeMap& evenly,
                                 const std::vector<double>& length_s, Rng rng) {
  std::vector<double> begin_s;
  for (size_t b = 0; b < plan.batches.size(); ++b) begin_s.push_back(evenly.time_s(rng.uniform()));
  std::ranges::sort(begin_s);
  for (size_t b = 0; b < begin_s.size(); ++b) {
    const int32_t before = plan.batches[b].before;
    const double apart_s = kBatchGapS * (1 + rng.uniform());
    if (before < 0) continue;
    const double free_s =
        begin_s[static_cast<size_t>(before)] + length_s[static_cast<size_t>(before)] + apart_s;
    if (free_s < begin_s[b] + kMaxDelayS) begin_s[b] = std::max(begin_s[b], free_s);
  }
  return begin_s;
}

// Start times without owners: all jobs of a size form one stream, often within a batch. The idle
// time between batches is distributed among them at random.
std::vector<double> unowned_starts(const PlannedBatches& plan, const ArrivalTimeMap& evenly,
                                   const std::vector<double>& length_s, const Rng& rng) {
  const double span_s = evenly.span_s();
  std::map<int32_t, std::vector<size_t>> streams;
  for (size_t b = 0; b < plan.batches.size(); ++b) streams[plan.batches[b].gpus].push_back(b);
  std::vector<double> begin_s(plan.batches.size());
  for (const auto& [gpus, batches] : streams) {
    Rng of_size = rng.split(static_cast<uint64_t>(gpus));
    double busy_s = 0;
    for (const size_t b : batches) busy_s += length_s[b] + kBatchGapS;
    // A stream too full for the span is compressed, and some of its batches will touch.
    const double squeeze = std::min(1.0, 0.95 * span_s / busy_s);
    std::vector<double> idle;
    for (size_t i = 0; i < batches.size(); ++i) {
      idle.push_back(of_size.uniform() * (1 - squeeze * busy_s / span_s));
    }
    std::ranges::sort(idle);
    double over_s = 0;
    for (size_t i = 0; i < batches.size(); ++i) {
      begin_s[batches[i]] = evenly.time_s(idle[i] + squeeze * over_s / span_s);
      over_s += length_s[batches[i]] + kBatchGapS;
    }
  }
  return begin_s;
}

}  // namespace

ArrivalTimeMap::ArrivalTimeMap(const WorkloadModel& model, double span_s, const Rng& seed)
    : span_s_(span_s) {
  Rng rng = stream_of(seed, SampleStream::kSwings), own = stream_of(seed, SampleStream::kLevels);
  std::vector<double> swing(model.swings.size());
  double variance = 0, slow = 0;
  for (size_t k = 0; k < swing.size(); ++k) {
    swing[k] = std::sqrt(model.swings[k].variance) * rng.normal();
    variance += model.swings[k].variance;
    slow +=
        model.swings[k].hours >= WorkloadModel::kMinHoursOfSlowSwing ? model.swings[k].variance : 0;
  }
  const double with = slow > 0 ? model.level_with_rate : 0;
  const double stay = std::exp(-1 / model.level_hours);
  double level = own.normal();
  for (size_t h = 0; static_cast<double>(h) * kHourS < span_s; ++h) {
    double log_rate = -variance / 2, high = 0;
    for (size_t k = 0; k < swing.size(); ++k) {
      log_rate += swing[k];
      if (model.swings[k].hours >= WorkloadModel::kMinHoursOfSlowSwing) high += swing[k];
      const double left = std::exp(-1 / model.swings[k].hours);
      swing[k] =
          left * swing[k] + std::sqrt(model.swings[k].variance * (1 - left * left)) * rng.normal();
    }
    const double length = std::min(1.0, span_s / kHourS - static_cast<double>(h));
    const double rate = model.week[h % WorkloadModel::kWeekHours] * std::exp(log_rate);
    sums_.push_back(sums_.back() + length * rate);
    levels_.push_back((slow > 0 ? with * high / std::sqrt(slow) : 0) +
                      std::sqrt(1 - with * with) * level);
    level = stay * level + std::sqrt(1 - stay * stay) * own.normal();
  }
}

size_t ArrivalTimeMap::hour_index_in_span(double even_position) const {
  const double sum = std::clamp(even_position, 0.0, 1.0) * sums_.back();
  return static_cast<size_t>(std::upper_bound(sums_.begin(), sums_.end() - 1, sum) -
                             sums_.begin()) -
         1;
}

double ArrivalTimeMap::time_s(double even_position) const {
  const size_t h = hour_index_in_span(even_position);
  const double rate = sums_[h + 1] - sums_[h];
  const double into =
      rate > 0 ? (std::clamp(even_position, 0.0, 1.0) * sums_.back() - sums_[h]) / rate : 0;
  return std::min(span_s_, kHourS * (static_cast<double>(h) + into));
}

double ArrivalTimeMap::level(double even_position) const {
  return levels_[hour_index_in_span(even_position)];
}

void set_submission_times(const WorkloadModel& model, const PlannedBatches& plan,
                          const ArrivalTimeMap& times, const Rng& seed, std::vector<Job>& jobs) {
  std::vector<double> after_s(jobs.size());
  const std::vector<double> length_s = fill_gaps(model, plan, seed, after_s);
  const Rng rng = stream_of(seed, SampleStream::kStarts);
  const std::vector<double> begin_s = model.owner == "nobody"
                                          ? unowned_starts(plan, times, length_s, rng)
                                          : owned_starts(plan, times, length_s, rng);
  for (size_t b = 0; b < plan.batches.size(); ++b) {
    for (int64_t j = plan.batches[b].first; j < plan.batches[b].end; ++j) {
      const double at_s = begin_s[b] + after_s[static_cast<size_t>(j)];
      jobs[static_cast<size_t>(j)].submit_us =
          std::llround(std::floor(at_s / model.step_s) * model.step_s * 1e6);
    }
  }
}

}  // namespace yard
