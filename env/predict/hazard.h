// Run-time distributions as discrete hazards: the probability that a job which has reached a time
// bin ends in this bin. Bins are quarter octaves, so that one table covers seconds to months.
#pragma once

#include <cstdint>

#include "env/base/core/check.h"
#include "env/base/core/log2.h"

namespace yard {

// Time bins of a quarter octave of seconds each. Bin 0 ends at 8 s, the last bin at 163 days.
struct TimeBins {
  static constexpr int kPerOctave = 4;
  static constexpr int kBins = 21 * kPerOctave;

  // Returns log2 of the seconds at which the bin begins. Requires: bin > 0.
  YARD_HD static float log2_begin(int32_t bin) {
    return 3 + static_cast<float>(bin - 1) / kPerOctave;
  }

  YARD_HD static int32_t of(float log2_s) {
    const float place = kPerOctave * (log2_s - 3) + 1;
    if (place < 1) return 0;
    return place < kBins - 1 ? static_cast<int32_t>(place) : kBins - 1;
  }
  YARD_HD static int32_t bin_of_us(int64_t us) {
    return us < 8'000'000 ? 0 : of(log2_coarse(static_cast<double>(us) * 1e-6));
  }
};

// Seconds at which time bins begin, which are exact where the power of two is a whole number.
struct BinEdges {
  float begin_s[TimeBins::kBins + 1];
  YARD_HD BinEdges() {
    begin_s[0] = 0;
    for (int32_t b = 1; b <= TimeBins::kBins; ++b) {
      begin_s[b] = static_cast<float>(exp2_coarse(TimeBins::log2_begin(b)));
    }
  }
};

// Observations by bin: jobs that reached the bin (exposed), and how many of them ended in it.
struct HazardCounts {
  float exposed[TimeBins::kBins];
  float ended[TimeBins::kBins];

  // Multiplies the weight of the observations in bin `b` by `keep`, 0 to 1.
  YARD_HD void decay(int32_t b, float keep) {
    exposed[b] *= keep;
    ended[b] *= keep;
  }
};

// Where within each time bin jobs end: weights or shares of kCells cells of equal width.
struct EndPositionsInBins {
  static constexpr int32_t kCells = 8;
  float share[TimeBins::kBins][kCells];

  // Returns a distribution with equal shares in all cells.
  static EndPositionsInBins uniform() {
    EndPositionsInBins out;
    for (auto& bin : out.share) {
      for (float& x : bin) x = 1.0F / kCells;
    }
    return out;
  }

  YARD_HD void decay(int32_t b, float keep) {
    for (float& x : share[b]) x *= keep;
  }
  YARD_HD void add(int32_t b, float part) { share[b][cell_of_fraction(part)] += 1; }
  // Sets the shares of bin `b` from `weights` plus `even` observations spread evenly over the bin.
  YARD_HD void set_smoothed_shares(const EndPositionsInBins& weights, int32_t b, float even) {
    float sum = even;
    for (const float x : weights.share[b]) sum += x;
    for (int32_t i = 0; i < kCells; ++i) {
      share[b][i] = (weights.share[b][i] + even / kCells) / sum;
    }
  }

  YARD_HD static int32_t cell_of_fraction(float part) {
    return part < 1 ? static_cast<int32_t>(part * kCells) : kCells - 1;
  }
  // Returns the share of the ends in bin `b` that fall into the bin's first `part` (0 to 1).
  YARD_HD float share_ending_before(int32_t b, float part) const {
    const int32_t last = cell_of_fraction(part);
    float sum = share[b][last] * (part * kCells - static_cast<float>(last));
    for (int32_t i = 0; i < last; ++i) sum += share[b][i];
    return sum;
  }
};

constexpr int64_t kUnlimitedUs = INT64_MAX;

// Expectations for a job that has already run for some time.
struct RemainingTime {
  float mean_s;     // expected run time left in seconds
  float gittins_s;  // inverse Gittins index: least seconds of run time per job that ends
  float ended;      // probability that the job ends before its limit
};

// Computes expectations from `hazards` (B) by bin and from where within bins jobs end. The job ends
// at `until_us` if it still runs at that time. Requires: attained_us < until_us.
RemainingTime predict_remaining(const BinEdges& edges, int64_t attained_us, int64_t until_us,
                                const float* hazards, const EndPositionsInBins& ends_within_bin);

// Returns the probability that the job ends within `left_s` seconds.
float probability_ended_within(const BinEdges& edges, int64_t attained_us, int64_t until_us,
                               const float* hazards, const EndPositionsInBins& ends_within_bin,
                               double left_s);

}  // namespace yard
