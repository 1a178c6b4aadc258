#include "experiments/search/cma_es.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <pagmo/algorithms/cmaes.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>
#include <utility>

#include "env/base/check.h"
#include "env/base/rng.h"

namespace yard {
namespace {

constexpr double kFirstStep = 0.2;  // of the unit range
constexpr double kAroundStart = 0.15;
constexpr double kTolerance = 1e-12;  // below which a generation counts as a single point
constexpr double kRefused = 1e300;    // pagmo sorts finite values
constexpr uint64_t kStream = 0x636D6165;

// The cube goes on beyond its faces as its own mirror image, so that the search may step over them.
double folded(double x) {
  const double y = std::fmod(std::abs(x), 2.0);
  return y <= 1 ? y : 2 - y;
}

struct Account {
  const std::function<double(const Point&)>& objective;
  int budget;
  Found found;

  double evaluate(const Point& anywhere) {
    if (found.evaluated >= budget) return kRefused;  // the rest of the last generation
    Point point(anywhere.size());
    std::transform(anywhere.begin(), anywhere.end(), point.begin(), folded);
    const double value = objective(point);
    ++found.evaluated;
    if (found.evaluated == 1 || value < found.value) {
      found.value = value;
      found.point = point;
    }
    return std::isfinite(value) ? value : kRefused;
  }
};

// In the form that pagmo asks for.
struct Problem {
  Account* account = nullptr;
  size_t dims = 0;
  pagmo::vector_double fitness(const pagmo::vector_double& x) const {
    return {account->evaluate(x)};
  }
  std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const {
    return {pagmo::vector_double(dims, 0.0), pagmo::vector_double(dims, 1.0)};
  }
};

}  // namespace

Found minimise(const Point& start, const std::function<double(const Point&)>& objective, int budget,
               uint64_t seed) {
  YARD_CHECK(budget >= 1 && !start.empty(), "nothing to search");
  Account account{objective, budget, {}};
  Rng rng = Rng(seed).split(kStream);
  const auto dims = static_cast<double>(start.size());
  const int offspring = std::max(5, 4 + static_cast<int>(3 * std::log(dims)));  // Hansen's default
  pagmo::population population(pagmo::problem(Problem{&account, start.size()}), 0, 0U);
  population.push_back(start);
  for (int i = 1; i < std::min(offspring, budget); ++i) {
    Point point(start.size());
    const bool anywhere = i % 2 == 1;
    for (size_t k = 0; k < point.size(); ++k) {
      point[k] = anywhere ? rng.uniform() : start[k] + kAroundStart * rng.normal();
    }
    population.push_back(point);
  }
  const pagmo::cmaes generation(1, -1, -1, -1, -1, kFirstStep, kTolerance, kTolerance, true, false,
                                static_cast<unsigned>(rng.below(UINT32_MAX)));
  for (int before = 0; before < account.found.evaluated && account.found.evaluated < budget;) {
    before = account.found.evaluated;
    population = generation.evolve(population);
  }
  return account.found;
}

}  // namespace yard
