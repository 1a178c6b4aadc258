// Training progress on stderr: one line which is rewritten on a terminal, or a line every ten
// seconds otherwise.
#pragma once

#include <chrono>
#include <string>

#include "agents/train/trainer.h"

namespace yard {

// "1:02:03" or "2:03"
std::string clock_text(double seconds);

class LiveLine {
 public:
  LiveLine(int from, int to) : from_(from), to_(to) {}
  ~LiveLine();  // ends an open line

  // Ends an open line, then prints `text` on its own line.
  void note(const std::string& text);

  // Shows the state after an update. `validation`: latest result, "-" before the first.
  void show(const TrainStats& stats, const std::string& validation);

 private:
  using Clock = std::chrono::steady_clock;
  int from_, to_;      // updates: first and last of this process
  bool open_ = false;  // whether a terminal line has not been ended
  Clock::time_point begin_ = Clock::now(), shown_ = begin_ - std::chrono::hours(1);
};

}  // namespace yard
