// How numbers of jobs per batch go up and down together, from day to day: from products of normal
// scores of batches of one day, of two days in a row, and with the number of other batches of the
// day; each moment is drawn towards 0 as far as chance could have made it. How large the level is
// follows from how much the trace's numbers of jobs by the day vary.
#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/normal.h"
#include "env/trace/fit_parts.h"

namespace yard {
namespace {

constexpr double kHourS = 3600, kDayS = 24 * kHourS;
constexpr size_t kLeastDays = 14;

struct Day {
  double expected = 0;                              // batches, by the profile of the week
  double number = 0, sum = 0, squares = 0;          // of batches and their scores
  std::map<int32_t, std::pair<double, double>> of;  // number and sum by owner
};

// Scores of the batches' numbers of jobs, by class of sizes.
std::vector<double> number_scores(const Batches& batches, const LikeModel& model) {
  std::map<const SizeClass*, std::vector<size_t>> by_class;
  for (size_t b = 0; b < batches.all.size(); ++b) {
    by_class[&class_of(model, batches.all[b].gpus)].push_back(b);
  }
  std::vector<double> scores(batches.all.size());
  for (const auto& [one, of] : by_class) {
    std::vector<double> numbers;
    for (const size_t b : of) numbers.push_back(static_cast<double>(batches.all[b].jobs.size()));
    const std::vector<double> of_class = normal_scores(numbers);
    for (size_t i = 0; i < of.size(); ++i) scores[of[i]] = of_class[i];
  }
  return scores;
}

// Whole days of the part.
std::vector<Day> days_of(const FitData& data, const LikeModel& model,
                         const std::vector<double>& scores) {
  std::vector<Day> days(static_cast<size_t>((data.to_s - data.from_s) / kDayS));
  double all = 0;
  for (size_t d = 0; d < days.size(); ++d) {
    for (int h = 0; h < 24; ++h) {
      const auto at = static_cast<int64_t>(
          std::floor((data.from_s + kDayS * static_cast<double>(d) + kHourS * h) / kHourS));
      constexpr auto kWeek = static_cast<int64_t>(LikeModel::kWeekHours);
      days[d].expected += model.week[static_cast<size_t>((at % kWeek + kWeek) % kWeek)];
    }
    all += days[d].expected;
  }
  double batches = 0;
  for (size_t b = 0; b < scores.size(); ++b) {
    const Batches::Batch& batch = data.batches.all[b];
    const int64_t submit_us = data.jobs[static_cast<size_t>(batch.jobs.front())].submit_us;
    const double into_s = data.shift_s + static_cast<double>(submit_us) * 1e-6 - data.from_s;
    const auto d = static_cast<size_t>(std::max(0.0, into_s / kDayS));
    if (d >= days.size()) continue;
    days[d].number += 1;
    days[d].sum += scores[b];
    days[d].squares += scores[b] * scores[b];
    // Nobody's batches count as one owner's each.
    const bool owned = data.batches.kind != Owner::kNobody;
    auto& [number, sum] = days[d].of[owned ? batch.owner : static_cast<int32_t>(b)];
    number += 1;
    sum += scores[b];
    batches += 1;
  }
  for (Day& day : days) day.expected *= batches / all;
  return days;
}

// A weighted mean of independent terms, with how far chance moves it.
class Moment {
 public:
  void add(double weight, double value) {
    weights_ += weight, sum_ += weight * value;
    squares_ += weight * weight * value * value, both_ += weight * weight * value;
    weight_squares_ += weight * weight;
  }
  double mean() const { return weights_ > 0 ? sum_ / weights_ : 0; }
  // Drawn towards 0 (James and Stein).
  double drawn() const {
    if (weights_ <= 0 || sum_ == 0) return 0;
    const double m = mean();
    const double chance =
        (squares_ - 2 * m * both_ + m * m * weight_squares_) / (weights_ * weights_);
    return m * std::max(0.0, 1 - chance / (m * m));
  }

 private:
  double weights_ = 0, sum_ = 0, squares_ = 0, both_ = 0, weight_squares_ = 0;
};

// Of the numbers of jobs by the day, over the square of their mean.
double daily_variance(const std::vector<Job>& jobs, double from_s, double span_s) {
  std::vector<double> days(static_cast<size_t>(span_s / kDayS));
  for (const Job& job : jobs) {
    const double at_s = static_cast<double>(job.submit_us) * 1e-6 - from_s;
    const auto d = static_cast<size_t>(std::max(0.0, at_s / kDayS));
    if (d < days.size()) days[d] += 1;
  }
  double sum = 0, squares = 0;
  for (const double n : days) sum += n, squares += n * n;
  return sum > 0 ? squares * static_cast<double>(days.size()) / (sum * sum) - 1 : 0;
}

// For a level that fades as exp(-u) over a day: its mean over a day has the variance spread(u), and
// with that of the next day the covariance next(u).
double spread(double u) { return 2 * (u - 1 + std::exp(-u)) / (u * u); }
double next(double u) { return std::pow((1 - std::exp(-u)) / u, 2); }

// The u at which next / spread is the ratio; it falls with u.
double fading(double ratio) {
  double low = 0.1, high = 6;
  for (int i = 0; i < 50; ++i) {
    const double u = (low + high) / 2;
    (next(u) / spread(u) > ratio ? low : high) = u;
  }
  return low;
}

}  // namespace

void fit_levels(const FitData& data, LikeModel& model) {
  const std::vector<double> scores = number_scores(data.batches, model);
  const std::vector<Day> days = days_of(data, model, scores);
  if (days.size() < kLeastDays) return;
  const bool owned = data.batches.kind != Owner::kNobody;
  Moment same, following, rate, others;
  for (size_t d = 0; d < days.size(); ++d) {
    const Day& day = days[d];
    if (day.number == 0) continue;
    // Pairs of batches of different owners, so that what an owner's have in common does not count.
    double pairs = day.number * day.number, products = day.sum * day.sum;
    for (const auto& [owner, one] : day.of) {
      pairs -= one.first * one.first;
      products -= one.second * one.second;
    }
    if (pairs > 0) same.add(pairs / day.number, products / pairs);
    // Seen from a batch, its day holds exp(variance) times as many others as expected, if the
    // logarithm of the rate is normal; a score that goes with the rate's by c has with that number
    // the covariance c sd exp(variance).
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
  // The correlation of two batches of one day, and of a batch with the level of its day's rate.
  const double of_day = same.drawn();
  const double variance = std::log(std::max(1.0, others.mean()));
  const double with = variance > 0 ? rate.drawn() / (std::sqrt(variance) * std::exp(variance)) : 0;
  if (of_day > 0) model.level_hours = 24 / fading(following.mean() / of_day);
  const double level = std::max(of_day, with * with);
  model.level_with_rate = level > 0 ? std::clamp(with / std::sqrt(level), -1.0, 1.0) : 0;
}

void match_levels(const FitData& data, LikeModel& model) {
  constexpr int kHalvings = 6;
  constexpr uint64_t kSamples = 6;
  if (data.to_s - data.from_s < kLeastDays * kDayS) return;
  const double wanted =
      daily_variance(data.jobs, data.from_s - data.shift_s, data.to_s - data.from_s);
  double low = 0, high = std::min(0.8, 1 - model.batch_jobs_owner);
  const auto got = [&](double level) {
    model.batch_jobs_level = level;
    double sum = 0;
    for (uint64_t seed = 0; seed < kSamples; ++seed) {
      sum += daily_variance(generate_like(model, {.seed = seed}), 0, data.to_s - data.from_s);
    }
    return sum / kSamples;
  };
  if (got(0) < wanted) {
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      (got(middle) < wanted ? low : high) = middle;
    }
  }
  model.batch_jobs_level = low;
}

}  // namespace yard
