// Line charts as inline SVG without scripts. Colours come from the page's style sheet, so that they
// follow its light or dark mode. Lines differ in colour; bounds are dashed.
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
  std::vector<Point> points;  // by ascending x
  int colour = 0;             // index of the line's colour, 0 .. kColours - 1
  bool dashed = false;
};

inline constexpr int kColours = 8;

enum class Unit { kPlain, kSeconds, kPercent };  // kPercent: a value of 1 is 100 %

struct Axis {
  std::string label;
  Unit unit = Unit::kPlain;
  bool log = false;                 // logarithmic; points not above 0 are skipped
  std::optional<double> from = {};  // least value on the axis; unset: that of the points
  std::optional<double> to = {};
};

struct Chart {
  std::string title;
  std::string note = {};  // one sentence under the title
  Axis x, y;
  std::vector<Line> lines;
  std::optional<double> reference_y = {};              // a thin horizontal line
  std::optional<std::pair<double, double>> band = {};  // shaded range of x
};

// Returns a <figure>; empty if no line has a point.
std::string render(const Chart& chart);

// Draws an interval and its middle on a logarithmic axis [from, to], for a table cell.
std::string render_interval(double lo, double mid, double hi, double from, double to);

}  // namespace yard::report
