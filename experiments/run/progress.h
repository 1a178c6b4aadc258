// Reports progress of long work on stderr, with at most one line in five seconds.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace yard {

// Returns a thread-safe function which prints a line, but nothing in the first five seconds.
std::function<void(const std::string& line)> progress_log();

// Estimates the time left for pieces of work. A piece's time is proportional to its size, at the
// rate of the finished pieces of the same kind, or of all kinds if none is finished.
class Eta {
 public:
  // Adds `pieces` pieces of work, each of `piece_size`.
  void expect_work(const std::string& kind, double piece_size, int pieces);
  // Counts a piece as done. Requires: an earlier expect_work() with the same kind and size.
  void done(const std::string& kind, double size, double wall_s);

  // Returns "run 12 of 340, about 3 min left", assuming that all cores work.
  std::string text() const;

 private:
  struct Kind {
    double left = 0, done = 0, wall_s = 0;  // total size left, total size done, time spent
  };
  std::map<std::string, Kind> kinds_;
  int pieces_ = 0, done_ = 0;
};

}  // namespace yard
