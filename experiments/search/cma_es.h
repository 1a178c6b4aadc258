// The least of a function over the unit cube, by CMA-ES (Hansen and Ostermeier, "Completely
// Derandomized Self-Adaptation in Evolution Strategies", 2001), which is pagmo's.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace yard {

using Point = std::vector<double>;  // in the unit cube, a coordinate for each number

struct Found {
  Point point;
  double value = 0;
  int evaluated = 0;
};

// Returns the value of each point of a generation, infinity for one that is none.
using Objective = std::function<std::vector<double>(const std::vector<Point>& points)>;

// `start` is evaluated first, in the first generation: it, points around it and all over the cube,
// as many as a generation has; the search goes on from the best of them. Each point that
// `objective` is given is within the cube; it is given `budget` of them, fewer only where the
// search has come to a point. The same seed gives the same search. Requires: budget >= 1.
Found minimise(const Point& start, const Objective& objective, int budget, uint64_t seed);

}  // namespace yard
