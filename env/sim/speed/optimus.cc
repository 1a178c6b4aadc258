#include "env/sim/speed/optimus.h"

#include <Eigen/QR>
#include <vector>

#include "env/base/check.h"

namespace yard {
namespace {

// Both forms are linear in their coefficients once turned over. These are the terms.
std::array<double, 5> sync_terms(double batch, int32_t servers, int32_t workers) {
  const double p = servers, w = workers;
  return {batch / w, 1, w / p, w, p};
}
std::array<double, 4> async_terms(int32_t servers, int32_t workers) {
  const double p = servers, w = workers;
  return {1 / w, 1 / p, 1, p / w};
}

template <size_t N>
double sum_of(const std::array<double, N>& coefficient, const std::array<double, N>& terms) {
  double sum = 0;
  for (size_t i = 0; i < N; ++i) sum += coefficient[i] * terms[i];
  return sum;
}

// Least squares without negative coefficients. With so few, every choice of those that are not 0
// can be tried: the best one whose plain solution is not negative is the answer (Karush, Kuhn,
// Tucker).
template <size_t N>
std::array<double, N> not_negative(const Eigen::MatrixXd& terms, const Eigen::VectorXd& value) {
  std::array<double, N> best = {};
  double best_error = value.squaredNorm();
  for (uint32_t chosen = 1; chosen < 1u << N; ++chosen) {
    std::vector<int> columns;
    for (size_t i = 0; i < N; ++i) {
      if (chosen >> i & 1) columns.push_back(static_cast<int>(i));
    }
    const Eigen::MatrixXd part = terms(Eigen::all, columns);
    const Eigen::VectorXd x = part.colPivHouseholderQr().solve(value);
    const double error = (part * x - value).squaredNorm();
    if (x.minCoeff() < 0 || !(error < best_error)) continue;
    best_error = error;
    best = {};
    for (size_t i = 0; i < columns.size(); ++i) {
      best[static_cast<size_t>(columns[i])] = x[static_cast<Eigen::Index>(i)];
    }
  }
  return best;
}

// Divides each equation by its time, so that errors are relative.
template <size_t N, class Terms>
std::array<double, N> fit(std::span<const OptimusRun> runs, Terms terms_of) {
  YARD_CHECK(!runs.empty(), "nothing to fit to");
  Eigen::MatrixXd terms(runs.size(), N);
  for (size_t r = 0; r < runs.size(); ++r) {
    const std::array<double, N> row = terms_of(runs[r]);
    for (size_t i = 0; i < N; ++i) {
      terms(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(i)) =
          row[i] * runs[r].steps_per_s;
    }
  }
  return not_negative<N>(terms, Eigen::VectorXd::Ones(static_cast<Eigen::Index>(runs.size())));
}

}  // namespace

double OptimusSync::steps_per_s(int32_t servers, int32_t workers) const {
  return 1 / sum_of(coefficient, sync_terms(batch, servers, workers));
}

double OptimusAsync::steps_per_s(int32_t servers, int32_t workers) const {
  return 1 / sum_of(coefficient, async_terms(servers, workers));
}

OptimusSync fit_optimus_sync(std::span<const OptimusRun> runs, double batch) {
  return {fit<5>(runs,
                 [&](const OptimusRun& r) {
                   return sync_terms(r.batch > 0 ? r.batch : batch, r.servers, r.workers);
                 }),
          batch};
}

OptimusAsync fit_optimus_async(std::span<const OptimusRun> runs) {
  return {fit<4>(runs, [](const OptimusRun& r) { return async_terms(r.servers, r.workers); })};
}

}  // namespace yard
