// Where a source file can be told a small lie, and how. All lies of a file can be planted in it at
// once, on the lines where they are; `chosen.h` says which one counts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace yard::mutation {

struct Point {
  int line;
  std::string was, now;  // for a reader
  // What is planted: at most two insertions around [begin, end), "@" in them for the number; or,
  // where `replaces`, `before` in place of what is there.
  size_t begin, end;
  std::string before, after;
  bool replaces = false;
};

// Returns the points in bodies of functions of `source`, in order. Not among them: what a constant
// expression needs, declarations, messages and checks of our own.
std::vector<Point> points_of(std::string_view source);

struct Numbered {
  int id;
  Point point;
};

// Returns `source` with the points planted in it. Requires: no two replace the same.
std::string plant(std::string_view source, const std::vector<Numbered>& points);

}  // namespace yard::mutation
