// Line charts as inline SVG without scripts. Colours come from the page's style sheet, so that a
// chart follows the page's light or dark mode. Lines differ in colour; lines of bounds are dashed.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace yard::report {

struct Point {
  double x, y;
};

struct Line {
  std::string name;
  std::vector<Point> points;  // points by ascending x
  int colour = 0;             // index of a colour, 0 to kColours - 1
  bool dashed = false;
};

inline constexpr int kColours = 8;

enum class Unit { kPlain, kSeconds, kPercent };  // with kPercent, 1 is shown as 100 %

struct Axis {
  std::string label;
  Unit unit = Unit::kPlain;
  bool log = false;                 // logarithmic axis, without points at or below 0
  std::optional<double> from = {};  // unset: chosen from the points
  std::optional<double> to = {};
};

struct Chart {
  std::string title;
  std::string note = {};  // one sentence shown under the title
  Axis x, y;
  std::vector<Line> lines;
  std::optional<double> reference_y = {};              // y of a thin horizontal line
  std::optional<std::pair<double, double>> band = {};  // range of x that is shaded
};

// Returns the chart as an HTML <figure>; empty if no line has a point.
std::string render(const Chart& chart);

// Returns an SVG, for a table cell, of the interval [lo, hi] and `mid` on a log axis [from, to].
std::string render_interval(double lo, double mid, double hi, double from, double to);

}  // namespace yard::report
