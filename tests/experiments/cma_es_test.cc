// CMA-ES finds a known minimum, inside the cube and at its faces, within its budget.
#include "experiments/search/cma_es.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace yard {
namespace {

// A long narrow valley, rotated against the axes, with its minimum at `at`.
double valley(const Point& x, double at) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double here = x[i] - at, before = i > 0 ? x[i - 1] - at : 0;
    sum += here * here + 10 * (here - before) * (here - before);
  }
  return sum;
}

// Minimises a function of one point; CMA-ES asks for whole generations.
Minimum minimise_each(const Point& start, const std::function<double(const Point&)>& of, int budget,
                      uint64_t seed) {
  const auto objective = [&](const std::vector<Point>& points) {
    std::vector<double> values;
    for (const Point& point : points) values.push_back(of(point));
    return values;
  };
  return minimise(start, objective, budget, seed);
}

TEST(CmaEs, GenerationIsEvaluatedAtOnce) {
  std::vector<size_t> sizes;
  const auto objective = [&](const std::vector<Point>& points) {
    sizes.push_back(points.size());
    std::vector<double> values;
    for (const Point& point : points) values.push_back(valley(point, 0.3));
    return values;
  };
  minimise(Point(6, 0.9), objective, 40, 1);
  ASSERT_GE(sizes.size(), 4u);
  EXPECT_EQ(sizes[0], 9u);  // 4 + 3 ln 6
  EXPECT_EQ(sizes[1], 9u);
  EXPECT_EQ(sizes.back(), 40u % 9u);
}

TEST(CmaEs, FindsAPlantedMinimum) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto f = [](const Point& x) { return valley(x, 0.3); };
    const Minimum found = minimise_each(Point(6, 0.9), f, 1200, seed);
    EXPECT_LT(found.value, 1e-3) << seed;
    for (const double x : found.point) EXPECT_NEAR(x, 0.3, 0.03) << seed;
  }
}

TEST(CmaEs, FindsAMinimumOnTheBoundaryAndStaysInside) {
  const auto f = [](const Point& x) {
    double sum = 0;
    for (const double v : x) {
      EXPECT_GE(v, 0);
      EXPECT_LE(v, 1);
      sum += v;
    }
    return sum;
  };
  EXPECT_LT(minimise_each(Point(4, 0.5), f, 400, 3).value, 0.05);
}

TEST(CmaEs, SpendsExactlyTheBudget) {
  for (const int budget : {1, 3, 10, 57}) {
    int calls = 0;
    const Minimum found = minimise_each(
        Point(3, 0.5), [&](const Point& x) { return ++calls, valley(x, 0.2); }, budget, 1);
    EXPECT_EQ(calls, budget);
    EXPECT_EQ(found.evaluated, budget);
  }
}

TEST(CmaEs, EvaluatesTheStartFirstAndKeepsTheBest) {
  bool first = true;
  const Point start = {0.25, 0.75};
  const Minimum found = minimise_each(
      start,
      [&](const Point& x) {
        EXPECT_TRUE(!first || x == start);
        const double value = first ? -1 : valley(x, 0.5);
        first = false;
        return value;
      },
      40, 1);
  EXPECT_EQ(found.point, start);
  EXPECT_EQ(found.value, -1);
}

TEST(CmaEs, SameSeedSameSearchAndInfinityIsSkipped) {
  const auto f = [](const Point& x) {
    return x[0] > 0.6 ? std::numeric_limits<double>::infinity() : valley(x, 0.5);
  };
  const Minimum a = minimise_each(Point(3, 0.1), f, 200, 9),
                b = minimise_each(Point(3, 0.1), f, 200, 9);
  EXPECT_EQ(a.point, b.point);
  EXPECT_LT(a.value, 0.01);
  EXPECT_NE(a.point, minimise_each(Point(3, 0.1), f, 200, 10).point);
}

}  // namespace
}  // namespace yard
