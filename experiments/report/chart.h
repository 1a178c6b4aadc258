// A line chart as inline SVG: no script, colours from the page's style sheet, so that it follows
// light and dark. Lines are told apart by colour and, for bounds, dashes; the legend names them.
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
  std::vector<Point> points;  // by rising x
  int colour = 0;             // 0 .. kColours - 1
  bool dashed = false;
};

inline constexpr int kColours = 8;

enum class Unit { kPlain, kSeconds, kPercent };  // of kPercent, 1 is 100 %

struct Axis {
  std::string label;
  Unit unit = Unit::kPlain;
  bool log = false;                 // points that are not above 0 are left out
  std::optional<double> from = {};  // else from the points
  std::optional<double> to = {};
};

struct Chart {
  std::string title;
  std::string note = {};  // one sentence under the title
  Axis x, y;
  std::vector<Line> lines;
  std::optional<double> mark_y = {};                   // a thin line across
  std::optional<std::pair<double, double>> band = {};  // of x, shaded
};

// Returns a <figure>, or nothing where no line has a point.
std::string render(const Chart& chart);

// An interval with its middle on a logarithmic axis [from, to], for a cell of a table.
std::string render_interval(double lo, double mid, double hi, double from, double to);

}  // namespace yard::report
