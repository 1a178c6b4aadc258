#include "env/sim/speed/pollux.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>
#include <vector>

#include "env/base/core/check.h"

namespace yard {
namespace {

constexpr int kParameters = 7;
// Regularisation towards the start, a thousandth of one run's weight. It affects only parameters
// which the runs leave open.
constexpr double kRegularisation = 0.001;

// Decodes six positive parameters from logarithms, and gamma (1 to 10) from a logistic curve.
PolluxForm form_of(const Eigen::VectorXd& x) {
  return {std::exp(x[0]),
          std::exp(x[1]),
          std::exp(x[2]),
          std::exp(x[3]),
          std::exp(x[4]),
          std::exp(x[5]),
          1 + 9 / (1 + std::exp(-x[6]))};
}

struct Residuals {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  std::span<const MeasuredRun> runs;
  Eigen::VectorXd start;

  int inputs() const { return kParameters; }
  int values() const { return static_cast<int>(2 * runs.size()) + kParameters; }

  int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& out) const {
    const PolluxForm form = form_of(x);
    Eigen::Index i = 0;
    for (const MeasuredRun& run : runs) {
      const double compute_s = form.compute_s(run.local_batch);
      const double sync_s = form.sync_s(run.gpus(), run.nodes());
      out[i++] = std::log(form.combined_s(compute_s, sync_s) / run.iteration_s);
      const double measured_compute_s = run.sync_s < 0 ? 0 : run.iteration_s - run.sync_s;
      out[i++] = measured_compute_s > 0 ? std::log(compute_s / measured_compute_s) : 0;
    }
    for (int k = 0; k < kParameters; ++k) out[i++] = kRegularisation * (x[k] - start[k]);
    return 0;
  }
};

// Returns the start of the fit: half of the shortest iteration is fixed, half is proportional to
// the batch, and an exchange takes that half, too.
Eigen::VectorXd first_guess(std::span<const MeasuredRun> runs) {
  double shortest_s = runs.front().iteration_s, batch = runs.front().local_batch;
  for (const MeasuredRun& run : runs) {
    if (run.iteration_s >= shortest_s) continue;
    shortest_s = run.iteration_s;
    batch = run.local_batch;
  }
  Eigen::VectorXd x(kParameters);
  const double half = std::log(shortest_s / 2);
  x << half, half - std::log(batch), half, half - 3, half, half - 3, 0;
  return x;
}

}  // namespace

double PolluxForm::sync_s(int32_t gpus, int32_t nodes) const {
  if (gpus < 2) return 0;
  return nodes < 2 ? inside_s + inside_per_gpu_s * (gpus - 2)
                   : across_s + across_per_gpu_s * (gpus - 2);
}

double PolluxForm::combined_s(double compute_s, double sync_s) const {
  // Factoring out the larger term keeps the powers small.
  const double large = std::max(compute_s, sync_s), small = std::min(compute_s, sync_s);
  if (small <= 0) return large;
  return large * std::pow(1 + std::pow(small / large, gamma), 1 / gamma);
}

PolluxForm fit_pollux(std::span<const MeasuredRun> runs) {
  YARD_CHECK(!runs.empty(), "no measured runs to fit");
  Residuals residuals{runs, first_guess(runs)};
  Eigen::VectorXd best = residuals.start;
  double best_norm = INFINITY;
  // Several starts: the logistic curve is flat at both ends, where a fit may get stuck.
  for (const double overlap : {-2.0, 0.0, 2.0}) {
    Eigen::VectorXd x = residuals.start;
    x[6] = overlap;
    Eigen::NumericalDiff<Residuals> with_gradient(residuals);
    Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Residuals>> solver(with_gradient);
    solver.parameters.maxfev = 1000;
    solver.minimize(x);
    if (solver.fvec.allFinite() && solver.fnorm < best_norm) {
      best_norm = solver.fnorm;
      best = x;
    }
  }
  return form_of(best);
}

}  // namespace yard
