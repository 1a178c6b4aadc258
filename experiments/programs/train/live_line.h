// A training's progress on stderr: one line that is rewritten on a terminal, and a line every ten
// seconds in a log.
#pragma once

#include <chrono>
#include <string>

#include "agents/trainer.h"

namespace yard {

// "1:02:03" or "2:03"
std::string clock_text(double seconds);

class LiveLine {
 public:
  LiveLine(int from, int to) : from_(from), to_(to) {}

  ~LiveLine();  // what is printed next begins a line

  // Ends the line on a terminal, if one is open, and prints another.
  void note(const std::string& text);

  // `validation`: the latest, "-" before the first.
  void show(const TrainStats& stats, const std::string& validation);

 private:
  using Clock = std::chrono::steady_clock;
  int from_, to_;      // updates
  bool open_ = false;  // the line on a terminal
  Clock::time_point begin_ = Clock::now(), shown_ = begin_ - std::chrono::hours(1);
};

}  // namespace yard
