// Fits when batches begin: an hourly profile of the week, shrunk towards flat as far as chance
// explains it, and swings that exceed those of a Poisson process.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "env/trace/fitted/fit_steps.h"

namespace yard {
namespace {

constexpr double kHourS = 3600;
constexpr size_t kDayHours = 24, kWeekDays = 7;
constexpr double kMinDaysForHours = 7, kMinDaysForWeekdays = 28;

struct Hours {
  int64_t first = 0;            // hours since the clock's 0
  std::vector<double> batches;  // by hour
  std::vector<double> length;   // part of the hour within the fitted part, 0 to 1
  double rate = 0;              // batches per hour

  size_t of_week(size_t h) const { return hour_of_week(first + static_cast<int64_t>(h)); }
};

Hours count(const FitData& data) {
  Hours hours;
  hours.first = static_cast<int64_t>(std::floor(data.from_s / kHourS));
  const auto end = static_cast<int64_t>(std::ceil(data.to_s / kHourS));
  const auto size = static_cast<size_t>(std::max<int64_t>(1, end - hours.first));
  for (size_t h = 0; h < size; ++h) {
    const double from_s = kHourS * static_cast<double>(hours.first + static_cast<int64_t>(h));
    hours.length.push_back((std::min(from_s + kHourS, data.to_s) - std::max(from_s, data.from_s)) /
                           kHourS);
  }
  hours.batches.resize(size);
  for (const SubmissionBatches::Batch& batch : data.batches.all) {
    const auto h = static_cast<int64_t>(std::floor(data.begin_s(batch) / kHourS)) - hours.first;
    hours.batches[static_cast<size_t>(std::clamp<int64_t>(h, 0, end - hours.first - 1))] += 1;
  }
  hours.rate = static_cast<double>(data.batches.all.size()) /
               std::accumulate(hours.length.begin(), hours.length.end(), 0.0);
  return hours;
}

// Returns relative rates with mean 1 from samples of each. Shrinks them towards 1 by the share of
// their variance that the samples' own scatter explains (James and Stein).
std::vector<double> shrink_to_flat(const std::vector<std::vector<double>>& samples) {
  std::vector<double> rates(samples.size(), 1);
  std::vector<double> means;
  double scatter = 0;
  for (const std::vector<double>& one : samples) {
    const auto n = static_cast<double>(one.size());
    if (one.size() < 3) return rates;
    means.push_back(std::accumulate(one.begin(), one.end(), 0.0) / n);
    double squares = 0;
    for (const double v : one) squares += (v - means.back()) * (v - means.back());
    scatter += squares / (n - 1) / n / static_cast<double>(samples.size());
  }
  const auto bins = static_cast<double>(means.size());
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / bins;
  if (mean <= 0) return rates;
  double variance = 0;
  for (const double m : means) variance += (m - mean) * (m - mean) / (bins - 1);
  const double real = variance > 0 ? std::max(0.0, 1 - scatter / variance) : 0;
  for (size_t k = 0; k < rates.size(); ++k) {
    rates[k] = std::max(0.0, 1 + real * (means[k] / mean - 1));
  }
  return rates;
}

// Samples are whole hours by hour of the day, and whole days by weekday.
void fit_profile(const Hours& hours, double days, WorkloadModel& model) {
  std::vector<std::vector<double>> by_hour(kDayHours), by_day(kWeekDays);
  double today = 0;
  size_t whole = 0;  // hours of today so far
  for (size_t h = 0; h < hours.batches.size(); ++h) {
    const size_t of_day = hours.of_week(h) % kDayHours;
    if (of_day == 0) today = 0, whole = 0;
    if (hours.length[h] < 1) continue;
    by_hour[of_day].push_back(hours.batches[h]);
    today += hours.batches[h];
    if (++whole == kDayHours) by_day[hours.of_week(h) / kDayHours].push_back(today);
  }
  std::vector<double> of_hour(kDayHours, 1), of_day(kWeekDays, 1);
  if (days >= kMinDaysForHours) of_hour = shrink_to_flat(by_hour), model.profile = "hours";
  if (days >= kMinDaysForWeekdays) {
    of_day = shrink_to_flat(by_day);
    model.profile = "hours and weekdays";
  }
  model.week.clear();
  for (size_t h = 0; h < WorkloadModel::kWeekHours; ++h) {
    model.week.push_back(of_hour[h % kDayHours] * of_day[h / kDayHours]);
  }
  const double mean = std::accumulate(model.week.begin(), model.week.end(), 0.0) /
                      static_cast<double>(model.week.size());
  for (double& rate : model.week) rate /= mean;
}

// Returns log(1 + covariance of the relative rates of hours `lag` apart). For rates exp(x) with
// normal x, this is the covariance of x. The variance of a Poisson count, its mean, is removed.
double log_covariance(const Hours& hours, const std::vector<double>& expected, size_t lag) {
  double products = 0, scale = 0;
  for (size_t h = 0; h + lag < hours.batches.size(); ++h) {
    const double here = hours.batches[h] - expected[h];
    const double there = hours.batches[h + lag] - expected[h + lag];
    products += here * there - (lag == 0 ? hours.batches[h] : 0);
    scale += expected[h] * expected[h + lag];
  }
  return scale > 0 ? std::log1p(std::max(-0.9, products / scale)) : 0;
}

// Fits variances of at least 0 to the covariances over lags: least squares by coordinate descent.
void fit_swings(const Hours& hours, const WorkloadModel& profile,
                std::vector<RateFluctuation>& swings) {
  constexpr std::array<double, 4> kSwingHours = {1, 6, 24, 120};
  constexpr std::array<size_t, 16> kLags = {0,  1,  2,  3,  4,  6,  8,   12,
                                            16, 24, 36, 48, 72, 96, 120, 168};
  constexpr double kMinSpans = 6;  // smallest number of lengths of a swing in the part
  constexpr int kRounds = 500;
  std::vector<double> expected;
  for (size_t h = 0; h < hours.batches.size(); ++h) {
    expected.push_back(hours.rate * hours.length[h] * profile.week[hours.of_week(h)]);
  }
  std::vector<double> covariance;
  for (const size_t lag : kLags) {
    if (lag < hours.batches.size() / 2) {
      covariance.push_back(log_covariance(hours, expected, lag));
    }
  }
  for (const double length : kSwingHours) {
    if (kMinSpans * length <= static_cast<double>(hours.batches.size())) {
      swings.push_back({length, 0});
    }
  }
  const auto left = [&](const RateFluctuation& swing, size_t l) {
    return std::exp(-static_cast<double>(kLags[l]) / swing.hours);
  };
  for (int round = 0; round < kRounds; ++round) {
    for (RateFluctuation& swing : swings) {
      double fits = 0, squares = 0;
      for (size_t l = 0; l < covariance.size(); ++l) {
        double rest = covariance[l] + swing.variance * left(swing, l);
        for (const RateFluctuation& other : swings) rest -= other.variance * left(other, l);
        fits += rest * left(swing, l);
        squares += left(swing, l) * left(swing, l);
      }
      swing.variance = std::clamp(squares > 0 ? fits / squares : 0, 0.0, 4.0);
    }
  }
  std::erase_if(swings, [](const RateFluctuation& swing) { return swing.variance < 1e-4; });
}

}  // namespace

void fit_arrivals(const FitData& data, WorkloadModel& model) {
  const Hours hours = count(data);
  fit_profile(hours, (data.to_s - data.from_s) / kHourS / kDayHours, model);
  fit_swings(hours, model, model.swings);
}

}  // namespace yard
