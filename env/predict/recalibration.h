// Recalibrates predicted distributions against past outcomes. It records the predicted share at
// which each job ended, which is uniform if predictions are calibrated, and maps a level to the
// empirical quantile of the shares (Kuleshov, Fenner, Ermon, "Accurate Uncertainties for Deep
// Learning Using Calibrated Regression", ICML 2018, algorithm 1, online).
#pragma once

#include <cmath>
#include <cstdint>

namespace yard {

class Recalibration {
 public:
  struct Interval {
    double low, high;
  };

  // Counts a job that has ended. The following calls of learn() are about predictions for this job.
  void count_ended_job() { jobs_ = jobs_ * kKeepJobs + 1; }

  // Records that the job ended where its predicted probability of having ended was between `least`
  // and `most`. Requires: 0 <= least <= most <= 1.
  void learn(double least, double most) {
    for (float& x : weight_) x *= kKeep;
    const double width = most - least;
    for (int32_t i = 0; i < kCells; ++i) {
      const double from = i / double{kCells}, to = (i + 1) / double{kCells};
      if (width <= 0) {
        if (least >= from && (least < to || i == kCells - 1)) weight_[i] += 1;
        continue;
      }
      const double low = least > from ? least : from, high = most < to ? most : to;
      if (high > low) weight_[i] += static_cast<float>((high - low) / width);
    }
  }

  // Returns the predicted share that corresponds to the calibrated share `level`.
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

  // Returns the two predicted shares between which a fraction `nominal` of the jobs end, widened by
  // a standard error. The error counts jobs, not predictions, since predictions for one job are
  // nearly identical.
  Interval interval(double nominal) const {
    const double out = (1 - nominal) / 2;
    const double error = std::sqrt(out * (1 - out) / (jobs_ + 1));
    return {read(std::fmax(out - error, 0)), read(std::fmin(1 - out + error, 1))};
  }

 private:
  static constexpr int32_t kCells = 64;
  static constexpr double kPrior = 1024;  // prior observations, spread uniformly over the cells
  static constexpr double kKeepJobs = 1 - 1.0 / 1024;
  static constexpr float kKeep = 1 - 1.0F / 2048;  // decay of weights per observation

  float weight_[kCells] = {};
  double jobs_ = 0;
};

}  // namespace yard
