// Minimises a function over the unit cube by pagmo's CMA-ES (Hansen and Ostermeier, "Completely
// Derandomized Self-Adaptation in Evolution Strategies", 2001).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace yard {

using Point = std::vector<double>;  // in the unit cube, one coordinate per number

struct Minimum {
  Point point;
  double value = 0;
  int evaluated = 0;
};

// Returns the value of each point of a generation, infinity for an invalid point.
using Objective = std::function<std::vector<double>(const std::vector<Point>& points)>;

// Evaluates `start` first. The first generation also holds points near `start` and over the whole
// cube. Evaluates `budget` points in the cube, fewer only if the search has converged. The same
// seed gives the same search. Requires: budget >= 1.
Minimum minimise(const Point& start, const Objective& objective, int budget, uint64_t seed);

}  // namespace yard
