// Progress of long work on stderr: at most a line every five seconds, so that a log stays readable.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace yard {

// Returns a reporter that may be called from any thread. The first call is shown only after
// that time, so that short work stays silent.
std::function<void(const std::string& line)> progress_log();

// How long work goes on: a piece takes, for its size, what others of its kind took; of a kind that
// nobody saw yet, what all took.
class Eta {
 public:
  void expect(const std::string& kind, double size, int pieces);
  // Requires: it was expected.
  void done(const std::string& kind, double size, double wall_s);

  // "run 12 of 340, about 3 min left". All cores work.
  std::string text() const;

 private:
  struct Kind {
    double left = 0, done = 0, wall_s = 0;  // sizes; how long those that are done took
  };
  std::map<std::string, Kind> kinds_;
  int pieces_ = 0, done_ = 0;
};

}  // namespace yard
