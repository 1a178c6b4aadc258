#include "env/sim/speed/nonnegative.h"

#include <Eigen/QR>
#include <cstdint>

#include "env/base/core/check.h"

namespace yard {

// Tries every subset of non-zero coefficients: the best one with a non-negative least-squares
// solution is optimal (Karush-Kuhn-Tucker). Of subsets which fit equally, as with few samples, the
// first wins, so that rounding does not decide.
std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& terms,
                                              const std::vector<double>& values) {
  YARD_CHECK(!terms.empty(), "no values to fit");
  const size_t count = terms[0].size();
  YARD_CHECK(count <= 5, "nonnegative_least_squares() tries all subsets of at most 5 terms");
  Eigen::MatrixXd all(terms.size(), count);
  for (size_t r = 0; r < terms.size(); ++r) {
    for (size_t i = 0; i < count; ++i) {
      all(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(i)) = terms[r][i];
    }
  }
  const Eigen::VectorXd value =
      Eigen::VectorXd::Map(values.data(), static_cast<Eigen::Index>(values.size()));
  std::vector<double> best(count, 0.0);
  const double of_all = value.squaredNorm();
  double best_error = of_all;
  for (uint32_t chosen = 1; chosen < 1u << count; ++chosen) {
    std::vector<int> columns;
    for (size_t i = 0; i < count; ++i) {
      if (chosen >> i & 1) columns.push_back(static_cast<int>(i));
    }
    const Eigen::MatrixXd part = all(Eigen::all, columns);
    const Eigen::VectorXd x = part.colPivHouseholderQr().solve(value);
    const double error = (part * x - value).squaredNorm();
    if (x.minCoeff() < 0 || !(error < best_error * (1 - 1e-9) - 1e-18 * of_all)) continue;
    best_error = error;
    best.assign(count, 0.0);
    for (size_t i = 0; i < columns.size(); ++i) {
      best[static_cast<size_t>(columns[i])] = x[static_cast<Eigen::Index>(i)];
    }
  }
  return best;
}

}  // namespace yard
