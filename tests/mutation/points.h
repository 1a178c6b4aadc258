// Finds the points of a source file that can be mutated. All mutations of a file are planted in it
// at once, on their own lines; `chosen.h` selects the active one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace yard::mutation {

struct Point {
  int line;
  std::string was, now;  // for reports
  // Planted text: at most two insertions around [begin, end), in which "@" stands for the number.
  // If `replaces` is set, `before` replaces the range.
  size_t begin, end;
  std::string before, after;
  bool replaces = false;
};

// Returns the points in function bodies of `source`, in order. Excludes constant expressions,
// declarations, messages and assertions.
std::vector<Point> points_of(std::string_view source);

struct Numbered {
  int id;
  Point point;
};

// Returns `source` with the points planted. Requires: no two replace the same operator.
std::string plant(std::string_view source, const std::vector<Numbered>& points);

}  // namespace yard::mutation
