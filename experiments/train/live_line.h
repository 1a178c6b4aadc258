// Prints training progress on stderr: on a terminal one line which is rewritten, and on any other
// output a line every ten seconds.
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
  ~LiveLine();  // ends the line if it is open

  // Ends the line of progress if it is open, and prints `text` on a separate line.
  void note(const std::string& text);

  // Shows the progress after a training update. `validation`: latest validation result, or "-".
  void show(const TrainStats& stats, const std::string& validation);

 private:
  using Clock = std::chrono::steady_clock;
  int from_, to_;      // first and last update of this process
  bool open_ = false;  // whether the progress line is still without a newline
  Clock::time_point begin_ = Clock::now(), shown_ = begin_ - std::chrono::hours(1);
};

}  // namespace yard
