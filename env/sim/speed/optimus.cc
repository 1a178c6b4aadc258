#include "env/sim/speed/optimus.h"

#include <algorithm>
#include <vector>

#include "env/sim/speed/nonnegative.h"

namespace yard {
namespace {

// Terms of the two forms: 1 / f (and w / f) is linear in the coefficients.
std::array<double, 5> sync_terms(double batch, int32_t servers, int32_t workers) {
  const double p = servers, w = workers;
  return {batch / w, 1, servers == 0 ? 0 : w / p, w, p};
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

// Fits the coefficients. Each equation is divided by its time, so that errors are relative.
template <size_t N, class Terms>
std::array<double, N> fit(std::span<const MeasuredOptimusSpeed> runs, Terms terms_of) {
  std::vector<std::vector<double>> terms;
  for (const MeasuredOptimusSpeed& run : runs) {
    const std::array<double, N> row = terms_of(run);
    terms.emplace_back(row.begin(), row.end());
    for (double& term : terms.back()) term *= run.steps_per_s;
  }
  const std::vector<double> found =
      nonnegative_least_squares(terms, std::vector<double>(runs.size(), 1.0));
  std::array<double, N> out;
  std::ranges::copy(found, out.begin());
  return out;
}

}  // namespace

double OptimusSync::steps_per_s(int32_t servers, int32_t workers) const {
  return 1 / sum_of(coefficient, sync_terms(batch, servers, workers));
}

double OptimusAsync::steps_per_s(int32_t servers, int32_t workers) const {
  return 1 / sum_of(coefficient, async_terms(servers, workers));
}

OptimusSync fit_optimus_sync(std::span<const MeasuredOptimusSpeed> runs, double batch) {
  return {fit<5>(runs,
                 [&](const MeasuredOptimusSpeed& r) {
                   return sync_terms(r.batch > 0 ? r.batch : batch, r.servers, r.workers);
                 }),
          batch};
}

OptimusAsync fit_optimus_async(std::span<const MeasuredOptimusSpeed> runs) {
  return {fit<4>(runs,
                 [](const MeasuredOptimusSpeed& r) { return async_terms(r.servers, r.workers); })};
}

}  // namespace yard
