// Minimises a function over the unit cube by the CMA-ES of the library pagmo (Hansen and
// Ostermeier, "Completely Derandomized Self-Adaptation in Evolution Strategies", 2001).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace yard {

using Point = std::vector<double>;  // coordinates of a point in the unit cube

struct Minimum {
  Point point;
  double value = 0;
  int evaluated = 0;
};

// Function which returns the value of each point of a generation, infinity for an invalid point.
using Objective = std::function<std::vector<double>(const std::vector<Point>& points)>;

// Returns the best point found. The first generation has `start`, points near `start`, and points
// over the whole cube. Evaluates `budget` points, or fewer if the search converges. A search with
// the same seed is the same. Requires: budget >= 1.
Minimum minimise(const Point& start, const Objective& objective, int budget, uint64_t seed);

}  // namespace yard
