// Residual life of log-normal run times, given the attained time, as tables that the host computes
// for host and device. Times are in log2 seconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "env/base/core/check.h"

namespace yard {

// Functions of u = log2(attained / median). S(x) = Q(ln x / s) is the share of jobs longer than x
// medians, where Q = 1 - Phi and s = sd. In closed form,
//   I(a, b) = integral of S from a to b
//           = b S(b) - a S(a) + exp(s^2/2) (Q((ln a - s^2)/s) - Q((ln b - s^2)/s)).
struct ResidualLife {
  static constexpr int kPoints = 97;  // values of u, from -12 to 12 in steps of 1/4
  static constexpr float kFirst = -12, kStep = 0.25F;
  // log2 of the mean residual life divided by the median: I(a, inf) / S(a).
  float left[kPoints];
  // log2 of attained time plus mean residual life, divided by the median.
  float total[kPoints];
  // Share of jobs that end before the attained time.
  float finished[kPoints];
  // log2 of the inverse Gittins index over the median: the least I(a, a + d) / (S(a) - S(a + d)),
  // run time spent per job finished, over all d. (Gittins, "Bandit Processes and Dynamic Allocation
  // Indices", 1979; the index minimises the mean time in a single queue with preemption.)
  float rank[kPoints];

  // Requires: `sd` > 0 is the standard deviation of the natural logarithm.
  explicit ResidualLife(double sd) {
    const auto upper = [](double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); };
    const auto partial = [&](double x) {  // I(x, inf)
      return std::exp(sd * sd / 2) * upper((std::log(x) - sd * sd) / sd) -
             x * upper(std::log(x) / sd);
    };
    for (int i = 0; i < kPoints; ++i) {
      const double u = (kFirst + kStep * static_cast<float>(i)) * std::log(2.0);
      const double a = std::exp(u), tail = upper(u / sd);
      // Far in the tail, Q underflows, and mrl and gittins are 1 / hazard rate by Mills' ratio.
      double mrl = a * sd * sd / u, gittins = mrl;
      if (tail > 1e-200) {
        const double rest = partial(a);
        mrl = gittins = rest / tail;
        for (double k = -10; k <= 10; k += 0.25) {
          const double end = a + (a + 1) * std::exp2(k);
          const double finish = tail - upper(std::log(end) / sd);
          if (finish > 1e-9 * tail) gittins = std::min(gittins, (rest - partial(end)) / finish);
        }
      }
      left[i] = static_cast<float>(std::log2(mrl));
      total[i] = static_cast<float>(std::log2(a + mrl));
      finished[i] = static_cast<float>(upper(-u / sd));
      rank[i] = static_cast<float>(std::log2(gittins));
    }
  }

  // A position in the tables. Beyond the ends of the tables, the curves continue linearly.
  struct At {
    int i;
    float part, beyond;  // `beyond` in doublings
  };

  // Finds a position without branches, since a processor could not predict them.
  YARD_HD static At at(float log2_median, float log2_attained) {
    constexpr float kLast = kPoints - 1;
    const float x = (log2_attained - log2_median - kFirst) * (1 / kStep);
    const float above = x > 0 ? x : 0;
    const float inside = above < kLast ? above : kLast;
    const int i = static_cast<int>(inside);
    const int from = i < kPoints - 2 ? i : kPoints - 2;
    return {from, inside - static_cast<float>(from), (above - inside) * kStep};
  }

  YARD_HD static float read(const float* table, At at) {
    return table[at.i] + at.part * (table[at.i + 1] - table[at.i]);
  }

  // Returns log2 of the expected remaining seconds; log2_inverse_gittins_s() returns log2 of the
  // inverse Gittins index in seconds.
  YARD_HD float log2_remaining_s(float log2_median, float log2_attained) const {
    const At a = at(log2_median, log2_attained);
    return log2_median + read(left, a) + a.beyond;
  }
  YARD_HD float log2_inverse_gittins_s(float log2_median, float log2_attained) const {
    const At a = at(log2_median, log2_attained);
    return log2_median + read(rank, a) + a.beyond;
  }
};

// log(run time) = user + batch + job, with independent normal parts. Unknown parts add variance.
struct RunTimeModel {
  static constexpr int kWidths = 8;
  float job, batch, user;      // standard deviations of the natural logarithm
  float batch_share;           // batch's share of the joint variance of batch and user
  ResidualLife life[kWidths];  // by rising variance; the first has the job's variance alone

  // Requires: job_sd > 0, batch_sd >= 0, user_sd >= 0.
  RunTimeModel(float job_sd, float batch_sd, float user_sd)
      : job(job_sd),
        batch(batch_sd),
        user(user_sd),
        batch_share(batch_and_user_variance() > 0
                        ? static_cast<float>(variance(batch) / batch_and_user_variance())
                        : 0.0F),
        life{residual_life_of_bin(0), residual_life_of_bin(1), residual_life_of_bin(2),
             residual_life_of_bin(3), residual_life_of_bin(4), residual_life_of_bin(5),
             residual_life_of_bin(6), residual_life_of_bin(7)} {}

  // Returns the index into `life` for a job, given the unknown share of each part, 0 to 1.
  YARD_HD int32_t residual_life_bin(float batch_unknown, float user_unknown) const {
    const float unknown = batch_share * batch_unknown + (1 - batch_share) * user_unknown;
    return static_cast<int32_t>(unknown * (kWidths - 1) + 0.5F);  // NOLINT: a value never below 0
  }

 private:
  static double variance(double sd) { return sd * sd; }

  double batch_and_user_variance() const { return variance(batch) + variance(user); }
  ResidualLife residual_life_of_bin(int i) const {
    return ResidualLife(std::sqrt(variance(job) + batch_and_user_variance() * i / (kWidths - 1)));
  }
};

}  // namespace yard
