#include "policies/optimus_fits.h"

#include <algorithm>
#include <cmath>

#include "env/base/check.h"

namespace yard {
namespace {

// Solves a symmetric, positive semidefinite system by elimination; nothing where it is singular.
// Rows and columns are scaled to a diagonal of 1 first, so that units decide nothing.
std::optional<std::vector<double>> solve(std::vector<std::vector<double>> a,
                                         std::vector<double> b) {
  const size_t n = b.size();
  std::vector<double> scale(n);
  for (size_t i = 0; i < n; ++i) {
    if (!(a[i][i] > 0)) return {};
    scale[i] = 1 / std::sqrt(a[i][i]);
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) a[i][j] *= scale[i] * scale[j];
    b[i] *= scale[i];
  }
  for (size_t i = 0; i < n; ++i) {
    size_t pivot = i;
    for (size_t r = i + 1; r < n; ++r) {
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    }
    if (std::abs(a[pivot][i]) < 1e-12) return {};
    std::swap(a[i], a[pivot]), std::swap(b[i], b[pivot]);
    for (size_t r = i + 1; r < n; ++r) {
      const double by = a[r][i] / a[i][i];
      for (size_t c = i; c < n; ++c) a[r][c] -= by * a[i][c];
      b[r] -= by * b[i];
    }
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t c = i + 1; c < n; ++c) b[i] -= a[i][c] * b[c];
    b[i] /= a[i][i];
  }
  for (size_t i = 0; i < n; ++i) b[i] *= scale[i];
  return b;
}

double squares(const std::vector<std::vector<double>>& x, const std::vector<double>& y,
               const std::vector<double>& w) {
  double sum = 0;
  for (size_t r = 0; r < y.size(); ++r) {
    double error = y[r];
    for (size_t c = 0; c < w.size(); ++c) error -= w[c] * x[r][c];
    sum += error * error;
  }
  return sum;
}

std::vector<double> terms(double servers, double workers) {
  if (servers <= 0) return {1 / workers, 1, 0, workers, 0};
  return {1 / workers, 1, workers / servers, workers, servers};
}

}  // namespace

// Few columns: all sets of those with a weight above 0 are tried, the smaller sets first.
std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& x,
                                              const std::vector<double>& y) {
  const size_t columns = x.empty() ? 0 : x[0].size();
  YARD_CHECK(columns <= 5, "nonnegative_least_squares() has at most 5 columns");
  std::vector<double> best(columns, 0.0);
  double least = squares(x, y, best);
  for (uint32_t set = 1; set < 1U << columns; ++set) {
    std::vector<size_t> in;
    for (size_t c = 0; c < columns; ++c) {
      if ((set >> c & 1) != 0) in.push_back(c);
    }
    std::vector<std::vector<double>> a(in.size(), std::vector<double>(in.size(), 0.0));
    std::vector<double> b(in.size(), 0.0);
    for (size_t r = 0; r < y.size(); ++r) {
      for (size_t i = 0; i < in.size(); ++i) {
        for (size_t j = 0; j < in.size(); ++j) a[i][j] += x[r][in[i]] * x[r][in[j]];
        b[i] += x[r][in[i]] * y[r];
      }
    }
    const auto found = solve(std::move(a), std::move(b));
    if (!found || *std::min_element(found->begin(), found->end()) < 0) continue;
    std::vector<double> weights(columns, 0.0);
    for (size_t i = 0; i < in.size(); ++i) weights[in[i]] = (*found)[i];
    const double error = squares(x, y, weights);
    if (error < least * (1 - 1e-9) - 1e-18) least = error, best = std::move(weights);
  }
  return best;
}

std::optional<double> LossFit::work_until(double target) const {
  if (target <= b2 || b0 <= 0) return {};
  return std::max((1 / (target - b2) - b1) / b0, 0.0);
}

// For each of some b2 below all losses, 1 / (loss - b2) is a line in the work.
std::optional<LossFit> fit_loss(const std::vector<std::pair<double, double>>& points) {
  if (points.size() < 3 || points.back().second >= points.front().second) return {};
  constexpr int kSteps = 64;
  double lowest = points.front().second;
  for (const auto& [work, loss] : points) lowest = std::min(lowest, loss);
  if (lowest <= 0) return {};
  std::optional<LossFit> best;
  double least = INFINITY;
  for (int i = 0; i < kSteps; ++i) {
    const double b2 = lowest * i / kSteps;
    std::vector<std::vector<double>> x;
    std::vector<double> y;
    const double scale = points.back().first;
    for (const auto& [work, loss] : points) {
      x.push_back({work / scale, 1});
      y.push_back(1 / (loss - b2));
    }
    const std::vector<double> w = nonnegative_least_squares(x, y);
    if (w[1] <= 0) continue;
    const LossFit fit{w[0] / scale, w[1], b2};
    double error = 0;
    for (const auto& [work, loss] : points) error += std::pow(fit.at(work) - loss, 2);
    if (error < least) least = error, best = fit;
  }
  return best;
}

double SpeedFit::at(double servers, double workers) const {
  const std::vector<double> x = terms(servers, workers);
  double time = 0;
  for (size_t i = 0; i < c.size(); ++i) time += c[i] * x[i];
  return time > 0 ? 1 / time : 0;
}

SpeedFit fit_speed(const std::vector<SpeedSample>& samples) {
  std::vector<std::vector<double>> x;
  std::vector<double> y;
  for (const SpeedSample& s : samples) {
    x.push_back(terms(s.servers, s.workers));
    for (double& term : x.back()) term *= s.speed;
    y.push_back(1);
  }
  SpeedFit fit;
  const std::vector<double> w = nonnegative_least_squares(x, y);
  std::copy(w.begin(), w.end(), fit.c.begin());
  return fit;
}

}  // namespace yard
