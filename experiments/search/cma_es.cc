#include "experiments/search/cma_es.h"

#include <algorithm>
#include <cmath>
#include <pagmo/algorithms/cmaes.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>
#include <utility>

#include "env/base/core/check.h"
#include "env/base/core/rng.h"

namespace yard {
namespace {

constexpr double kFirstStep = 0.2;  // of the unit range
constexpr double kStartSpread = 0.15;
constexpr double kTolerance = 1e-12;  // spread below which a generation counts as one point
constexpr double kRefused = 1e300;    // finite, since pagmo sorts values
constexpr uint64_t kCmaEsStream = 0x636D6165;

// Mirrors the cube at its faces, so that the search may step beyond them.
double folded(double x) {
  const double y = std::fmod(std::abs(x), 2.0);
  return y <= 1 ? y : 2 - y;
}

// pagmo requests one value after another, which would leave all cores but one idle. The points of a
// generation do not depend on their values. So the generation first runs on a copy which records
// its points, they are evaluated in parallel, and it runs again with their values.
struct BatchEvaluator {
  const Objective& objective;
  int budget;
  Minimum found;
  bool rehearsal = false;
  std::vector<Point> requested;  // recorded in the rehearsal
  std::vector<double> values;    // of these points
  size_t next = 0;

  double value_of(const Point& anywhere) {
    if (rehearsal) {
      Point point(anywhere.size());
      std::transform(anywhere.begin(), anywhere.end(), point.begin(), folded);
      requested.push_back(std::move(point));
      return 0;
    }
    YARD_CHECK(next < values.size(), "a generation evaluates the points of its rehearsal");
    return values[next++];
  }

  void evaluate() {
    // Points beyond the budget are refused.
    const size_t within = std::min(requested.size(), static_cast<size_t>(budget - found.evaluated));
    const std::vector<Point> points(requested.begin(),
                                    requested.begin() + static_cast<std::ptrdiff_t>(within));
    values.assign(requested.size(), kRefused);
    next = 0;
    if (points.empty()) return;
    const std::vector<double> known = objective(points);
    for (size_t i = 0; i < points.size(); ++i) {
      if (found.evaluated++ == 0 || known[i] < found.value) {
        found.value = known[i];
        found.point = points[i];
      }
      if (std::isfinite(known[i])) values[i] = known[i];
    }
  }
};

// The interface which pagmo requires.
struct Problem {
  BatchEvaluator* evaluator = nullptr;
  size_t dims = 0;
  pagmo::vector_double fitness(const pagmo::vector_double& x) const {
    return {evaluator->value_of(x)};
  }
  std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const {
    return {pagmo::vector_double(dims, 0.0), pagmo::vector_double(dims, 1.0)};
  }
};

}  // namespace

Minimum minimise(const Point& start, const Objective& objective, int budget, uint64_t seed) {
  YARD_CHECK(budget >= 1 && !start.empty(), "a search needs a budget and a starting point");
  BatchEvaluator evaluator{objective, budget, {}, false, {}, {}, 0};
  Rng rng = Rng(seed).split(kCmaEsStream);
  const auto dims = static_cast<double>(start.size());
  const int offspring = std::max(5, 4 + static_cast<int>(3 * std::log(dims)));  // Hansen's default
  const auto run_generation = [&](auto generation) {
    evaluator.requested.clear();
    evaluator.rehearsal = true;
    generation();
    evaluator.evaluate();
    evaluator.rehearsal = false;
    generation();
  };
  std::vector<Point> first = {start};
  for (int i = 1; i < std::min(offspring, budget); ++i) {
    Point point(start.size());
    const bool anywhere = i % 2 == 1;
    for (size_t k = 0; k < point.size(); ++k) {
      point[k] = anywhere ? rng.uniform() : start[k] + kStartSpread * rng.normal();
    }
    first.push_back(point);
  }
  const pagmo::problem problem(Problem{&evaluator, start.size()});
  pagmo::population population(problem, 0, 0U);
  run_generation([&] {
    population = pagmo::population(problem, 0, 0U);
    for (const Point& point : first) population.push_back(point);
  });
  pagmo::cmaes search(1, -1, -1, -1, -1, kFirstStep, kTolerance, kTolerance, true, false,
                      static_cast<unsigned>(rng.below(UINT32_MAX)));
  for (int before = 0; before < evaluator.found.evaluated && evaluator.found.evaluated < budget;) {
    before = evaluator.found.evaluated;
    const pagmo::population old = population;
    const pagmo::cmaes state = search;
    run_generation([&] {
      search = state;
      population = search.evolve(old);
    });
  }
  return evaluator.found;
}

}  // namespace yard
