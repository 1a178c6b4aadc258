// Makes told distributions honest by how earlier ones came out: of jobs whose end has been seen, at
// which share of those told to have ended by then did it come? Where a distribution is right these
// shares lie evenly between 0 and 1. Where they do not, what is told is read at the share below
// which as many of the earlier ones lay as are asked for (Kuleshov, Fenner, Ermon, "Accurate
// Uncertainties for Deep Learning Using Calibrated Regression", ICML 2018, algorithm 1, online).
#pragma once

#include <cmath>
#include <cstdint>

namespace yard {

class Recalibration {
 public:
  struct Interval {
    double low, high;
  };

  // A job has ended: what is learned next are looks at it.
  void begin_job() { jobs_ = jobs_ * kKeepJobs + 1; }

  // Takes in that an end came between two shares. Requires: 0 <= least <= most <= 1.
  void learn(double least, double most) {
    for (float& x : weight_) x *= kKeep;
    const double width = most - least;
    for (int32_t i = 0; i < kCells; ++i) {
      const double from = i / double{kCells}, to = (i + 1) / double{kCells};
      if (width <= 0) {
        const bool here = least >= from && (least < to || i == kCells - 1);
        weight_[i] += here ? 1.0F : 0.0F;
        continue;
      }
      const double low = least > from ? least : from, high = most < to ? most : to;
      if (high > low) weight_[i] += static_cast<float>((high - low) / width);
    }
  }

  // The told share to go by where the share `level` is meant.
  double read(double level) const {
    constexpr double kPriorOfCell = kPrior / kCells;
    double all = kPrior;
    for (const float x : weight_) all += x;
    double wanted = level * all;
    for (int32_t i = 0; i < kCells; ++i) {
      const double here = weight_[i] + kPriorOfCell;
      if (wanted <= here) return (i + wanted / here) / kCells;
      wanted -= here;
    }
    return 1;
  }

  // Shares between which `nominal` of the ends lie. Wider by what so few jobs leave open: a
  // standard error of the shares. Looks at one job tell nearly the same, so it is jobs that count.
  Interval interval(double nominal) const {
    const double out = (1 - nominal) / 2;
    const double error = std::sqrt(out * (1 - out) / (jobs_ + 1));
    return {read(std::fmax(out - error, 0)), read(std::fmin(1 - out + error, 1))};
  }

 private:
  static constexpr int32_t kCells = 64;
  static constexpr double kPrior = 1024;  // looks that count as having come out evenly
  static constexpr double kKeepJobs = 1 - 1.0 / 1024;
  static constexpr float kKeep = 1 - 1.0F / 2048;  // what a look leaves of those before it

  float weight_[kCells] = {};
  double jobs_ = 0;
};

}  // namespace yard
