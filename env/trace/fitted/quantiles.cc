// Fits and evaluates distributions.
#include <algorithm>
#include <cmath>

#include "env/base/core/check.h"
#include "env/trace/fitted/workload_model.h"

namespace yard {
namespace {

constexpr size_t kMaxKnots = 101;
constexpr size_t kMinValues = 10;  // between knots; the first and last average half of it
constexpr size_t kMinForTail = 60;
constexpr double kAboveShare = 0.02;  // of the values above the body, at least 20
constexpr size_t kMinTail = 20;
constexpr double kMaxPower = 1 / 1.1;  // largest scale of a power law with a mean
constexpr double kNearPower = -0.1;    // shapes from here to 0 count as a power law

// Returns the mean of values[from, to). Each bound may be within a value.
double mean_between(const std::vector<double>& values, double from, double to) {
  double sum = 0;
  for (size_t i = static_cast<size_t>(from); static_cast<double>(i) < to; ++i) {
    const double low = std::max(from, static_cast<double>(i));
    const double high = std::min(to, static_cast<double>(i + 1));
    sum += (high - low) * values[i];
  }
  return sum / (to - from);
}

// Fits the tail to the values from index `from` on. Requires: sorted values.
void fit_tail(const std::vector<double>& logs, size_t from, double base, Quantiles& out) {
  const auto n = static_cast<double>(logs.size() - from);
  double first = 0, second = 0;  // L-moments
  for (size_t i = from; i < logs.size(); ++i) {
    const double excess = std::max(0.0, logs[i] - base);
    first += excess / n;
    second += excess * (2 * static_cast<double>(i - from) - (n - 1)) / (n * (n - 1));
  }
  if (first <= 0) return;
  const double ratio = second > 0 ? first / second : 2;
  out.tail_shape = std::clamp(2 - ratio, -10.0, 0.0);
  out.tail_scale = std::min(first * (1 - out.tail_shape), 20.0);
  if (out.tail_shape > kNearPower) out.tail_scale = std::min(out.tail_scale, kMaxPower);
}

double between(double low, double high, double part) {
  const double from = std::log1p(low);
  return std::expm1(from + part * (std::log1p(high) - from));
}

}  // namespace

double Quantiles::at(double share) const {
  YARD_CHECK(share >= 0 && share < 1 && !knots.empty(),
             "a quantile needs a share from 0 to below 1, and knots");
  if (share < body) {
    const double place = share / body * static_cast<double>(knots.size() - 1);
    const size_t low = std::min(static_cast<size_t>(place), knots.size() - 1);
    const size_t high = std::min(low + 1, knots.size() - 1);
    return between(knots[low], knots[high], place - static_cast<double>(low));
  }
  double above = 1 - body, low = knots.back();  // share of the values above `low`
  for (const double high : upper) {
    if (1 - share > above / 2) return between(low, high, 2 * (share - (1 - above)) / above);
    above /= 2;
    low = high;
  }
  const double left = std::log((1 - share) / above);
  const double excess = tail_shape == 0 ? -tail_scale * left
                                        : tail_scale / tail_shape * std::expm1(-tail_shape * left);
  return std::expm1(std::log1p(low) + excess);
}

double Quantiles::mean() const {
  constexpr int kSteps = 20'000;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) sum += at((i + 0.5) / kSteps);
  return sum / kSteps;
}

Quantiles quantiles_of(std::vector<double> values) {
  YARD_CHECK(!values.empty(), "a distribution needs values");
  for (double& value : values) value = std::log1p(value);
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  size_t above = 0;
  if (values.size() >= kMinForTail) {
    above = std::max(kMinTail, static_cast<size_t>(std::round(kAboveShare * n)));
  }
  const size_t body = values.size() - above;
  Quantiles out;
  out.body = static_cast<double>(body) / n;
  const size_t steps = std::min(body / kMinValues, kMaxKnots - 1);
  const double width = static_cast<double>(body) / std::max<double>(1, static_cast<double>(steps));
  for (size_t k = 0; k <= steps; ++k) {
    const double centre = static_cast<double>(k) * width;
    const double from = std::max(0.0, centre - width / 2);
    const double to = steps == 0 ? width : std::min(static_cast<double>(body), centre + width / 2);
    out.knots.push_back(std::expm1(mean_between(values, from, to)));
  }
  if (above == 0) return out;
  double base = std::log1p(out.knots.back());
  double left = static_cast<double>(above);
  for (; left >= 2 * kMinTail; left /= 2) {
    const double centre = n - left / 2;
    base = std::max(base, mean_between(values, centre - left / 8, centre + left / 8));
    out.upper.push_back(std::expm1(base));
  }
  fit_tail(values, values.size() - static_cast<size_t>(std::round(left)), base, out);
  return out;
}

}  // namespace yard
