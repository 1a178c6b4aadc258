// Fits how the numbers of jobs per batch vary together from day to day. Uses products of normal
// scores: of batches of one day, of consecutive days, and with the day's number of other batches.
// Each moment is shrunk towards 0 as far as chance explains it.
#include <algorithm>
#include <cmath>
#include <map>

#include "env/trace/fitted/fit_steps.h"

namespace yard {
namespace {

constexpr double kHourS = 3600, kDayS = 24 * kHourS;
constexpr size_t kMinDays = 14;

struct Day {
  double expected = 0;                              // batches, by the profile of the week
  double number = 0, sum = 0;                       // of batches and of their scores
  std::map<int32_t, std::pair<double, double>> of;  // number and sum by owner
};

std::vector<Day> days_of(const FitData& data, const WorkloadModel& model) {
  std::vector<Day> days(static_cast<size_t>((data.to_s - data.from_s) / kDayS));
  double all = 0;
  for (size_t d = 0; d < days.size(); ++d) {
    for (int h = 0; h < 24; ++h) {
      const auto at = static_cast<int64_t>(
          std::floor((data.from_s + kDayS * static_cast<double>(d) + kHourS * h) / kHourS));
      days[d].expected += model.week[hour_of_week(at)];
    }
    all += days[d].expected;
  }
  double batches = 0;
  for (size_t b = 0; b < data.number_scores.size(); ++b) {
    const SubmissionBatches::Batch& batch = data.batches.all[b];
    const double score = data.number_scores[b];
    const auto d = static_cast<size_t>(std::max(0.0, (data.begin_s(batch) - data.from_s) / kDayS));
    if (d >= days.size()) continue;
    days[d].number += 1;
    days[d].sum += score;
    // Without owners, each batch counts as one owner's.
    const bool owned = data.batches.kind != Owner::kNone;
    auto& [number, sum] = days[d].of[owned ? batch.owner : static_cast<int32_t>(b)];
    number += 1;
    sum += score;
    batches += 1;
  }
  for (Day& day : days) day.expected *= batches / all;
  return days;
}

// A weighted mean of independent terms, with its sampling variance.
class Moment {
 public:
  void add(double weight, double value) {
    weights_ += weight, sum_ += weight * value;
    squares_ += weight * weight * value * value, both_ += weight * weight * value;
    weight_squares_ += weight * weight;
  }
  double mean() const { return weights_ > 0 ? sum_ / weights_ : 0; }
  // Returns the mean, shrunk towards 0 (James and Stein).
  double shrunk() const {
    if (weights_ <= 0 || sum_ == 0) return 0;
    const double m = mean();
    const double chance =
        (squares_ - 2 * m * both_ + m * m * weight_squares_) / (weights_ * weights_);
    return m * std::max(0.0, 1 - chance / (m * m));
  }

 private:
  double weights_ = 0, sum_ = 0, squares_ = 0, both_ = 0, weight_squares_ = 0;
};

// For a level with correlation exp(-u) over a day: spread(u) is the variance of its daily mean,
// next(u) the covariance of the means of consecutive days.
double spread(double u) { return 2 * (u - 1 + std::exp(-u)) / (u * u); }
double next(double u) { return std::pow((1 - std::exp(-u)) / u, 2); }

// Returns the u at which next / spread equals the ratio, which falls with u.
double decay_for_ratio(double ratio) {
  double low = 0.1, high = 6;
  for (int i = 0; i < 50; ++i) {
    const double u = (low + high) / 2;
    (next(u) / spread(u) > ratio ? low : high) = u;
  }
  return low;
}

}  // namespace

void fit_batch_jobs_fluctuation(const FitData& data, WorkloadModel& model) {
  const std::vector<Day> days = days_of(data, model);
  if (days.size() < kMinDays) return;
  const bool owned = data.batches.kind != Owner::kNone;
  Moment same, following, rate, others;
  for (size_t d = 0; d < days.size(); ++d) {
    const Day& day = days[d];
    if (day.number == 0) continue;
    // Only pairs of batches of different owners: what an owner's batches share does not count.
    double pairs = day.number * day.number, products = day.sum * day.sum;
    for (const auto& [owner, one] : day.of) {
      pairs -= one.first * one.first;
      products -= one.second * one.second;
    }
    if (pairs > 0) same.add(pairs / day.number, products / pairs);
    // Seen from a batch, its day has exp(variance) times the expected number of others if the log
    // of the rate is normal. A score with correlation c to that log, of deviation sd, has the
    // covariance c sd exp(variance) with the number.
    if (day.expected > 0) {
      others.add(day.number, (day.number - 1) / day.expected);
      rate.add(day.number, day.sum / day.number * (day.number - 1) / day.expected);
    }
    if (d + 1 == days.size() || days[d + 1].number == 0) continue;
    const Day& then = days[d + 1];
    pairs = day.number * then.number, products = day.sum * then.sum;
    for (const auto& [owner, one] : day.of) {
      const auto again = then.of.find(owner);
      if (!owned || again == then.of.end()) continue;
      pairs -= one.first * again->second.first;
      products -= one.second * again->second.second;
    }
    if (pairs > 0) following.add(std::sqrt(pairs), products / pairs);
  }
  const double of_day = same.shrunk();
  if (of_day <= 0) return;
  const double u = decay_for_ratio(following.mean() / of_day);
  model.level_hours = 24 / u;
  model.batch_jobs_level =
      std::clamp(of_day / spread(u), 0.0, std::max(0.0, 0.95 - model.batch_jobs_owner));
  const double variance = std::log(std::max(1.0, others.mean()));
  double slow = 0;
  for (const RateFluctuation& swing : model.swings) {
    slow += swing.hours >= WorkloadModel::kMinHoursOfSlowSwing ? swing.variance : 0;
  }
  if (slow <= 0 || variance <= 0 || model.batch_jobs_level <= 0) return;
  const double with = rate.shrunk() / (std::sqrt(variance) * std::exp(variance));
  model.level_with_rate = std::clamp(with / std::sqrt(model.batch_jobs_level), -1.0, 1.0);
}

}  // namespace yard
