#include "experiments/train/live_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace yard {

std::string clock_text(double seconds) {
  const int64_t s = std::llround(seconds);
  return s >= 3600 ? fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
                   : fmt::format("{}:{:02}", s / 60, s % 60);
}

LiveLine::~LiveLine() {
  if (open_) std::fputs("\n", stderr);
}

void LiveLine::note(const std::string& text) {
  std::fputs((std::string(open_ ? "\n" : "") + text + "\n").c_str(), stderr);
  std::fflush(stderr);
  open_ = false;
}

void LiveLine::show(const TrainStats& s, const std::string& validation) {
  const double spent = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double eta = spent * (to_ - s.update) / std::max(1, s.update - from_);
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (!terminal && s.update != to_ && Clock::now() - shown_ < std::chrono::seconds(10)) return;
  shown_ = Clock::now();
  open_ = terminal && s.update != to_;
  double kl = 0;
  for (const auto& [name, value] : s.metrics) kl = name == "approx_kl" ? value : kl;
  std::fputs(fmt::format("{}update {}/{}  {:.0f} samples/s  validation {}  agreement {:.3f}  "
                         "kl {:.4f}  ETA {}{}",
                         terminal ? "\r\x1b[2K" : "", s.update, to_, s.samples_per_s, validation,
                         s.agreement, kl, clock_text(eta), open_ ? "" : "\n")
                 .c_str(),
             stderr);
  std::fflush(stderr);
}

}  // namespace yard
