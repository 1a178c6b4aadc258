// Reports progress of long work on stderr, at most one line in five seconds.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace yard {

// Returns a thread-safe reporter, which prints nothing in the first five seconds.
std::function<void(const std::string& line)> progress_log();

// Estimates the time left. A piece takes as long as finished ones of its kind in proportion to
// size; a kind without a finished piece uses the average over all kinds.
class Eta {
 public:
  void expect(const std::string& kind, double size, int pieces);
  // Requires: an earlier expect() with this kind and size.
  void done(const std::string& kind, double size, double wall_s);

  // Returns "run 12 of 340, about 3 min left", assuming that all cores work.
  std::string text() const;

 private:
  struct Kind {
    double left = 0, done = 0, wall_s = 0;  // sizes left and done; time for the done ones
  };
  std::map<std::string, Kind> kinds_;
  int pieces_ = 0, done_ = 0;
};

}  // namespace yard
