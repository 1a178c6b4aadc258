// The distribution of a run time as hazards: the chance to end within a bin of time for who has
// reached it. Bins are half octaves, so that one table serves seconds and months. What is known of
// jobs that still run enters as exposure without an end (Kaplan and Meier, "Nonparametric
// Estimation from Incomplete Observations", JASA 1958); in the bin where such a job is now it does
// not count yet.
#pragma once

#include <cstdint>

#include "env/base/check.h"
#include "env/base/log2.h"

namespace yard {

// Half octaves of seconds: bin 0 ends at 8 s, the last one at 137 days.
struct TimeBins {
  static constexpr int kBins = 42;

  // log2 of the seconds at which the bin begins. Requires: bin > 0.
  YARD_HD static float log2_begin(int32_t bin) { return 2.5F + 0.5F * static_cast<float>(bin); }

  YARD_HD static int32_t of(float log2_s) {
    const float place = 2 * log2_s - 5;
    if (place < 1) return 0;
    return place < kBins - 1 ? static_cast<int32_t>(place) : kBins - 1;
  }
  YARD_HD static int32_t of_us(int64_t us) {
    return us < 8'000'000 ? 0 : of(log2_coarse(static_cast<double>(us) * 1e-6));
  }
};

// Seconds at which bins begin, exact where the exponent is whole.
struct BinEdges {
  float begin_s[TimeBins::kBins + 1];
  YARD_HD BinEdges() {
    begin_s[0] = 0;
    for (int32_t b = 1; b <= TimeBins::kBins; ++b) {
      begin_s[b] = static_cast<float>(exp2_coarse(TimeBins::log2_begin(b)));
    }
  }
};

// Weights of jobs by bin: how many came as far, and how many of these ended in it.
struct HazardRow {
  float exposed[TimeBins::kBins];
  float ended[TimeBins::kBins];

  // Lets what was seen so far count for less.
  YARD_HD void fade(float keep) {
    for (float& x : exposed) x *= keep;
    for (float& x : ended) x *= keep;
  }
};

// What to expect of a job that has run for a while.
struct Outlook {
  float mean_s;     // of the time that is left
  float gittins_s;  // the least time spent per job ended, over all ways to stop (run_times.h)
};

// A bin's hazard is taken to be the same at all times within it. Both are series in the chance p to
// end in the bin: 1 - (1 - p)^f in the part f of it, and the mean part of the bin that who reaches
// it spends there, p / -ln(1 - p).
YARD_HD inline float chance_in(float f, float p) {
  return f * p * (1 + (1 - f) * p * (0.5F + (2 - f) * p * (1.0F / 6)));
}
YARD_HD inline float time_in(float p) { return 1 - p * (0.5F + p * (1.0F / 12 + p * (1.0F / 24))); }

// Goes through the bins from where the job is; `hazard(b)` is the chance to end in bin b for who
// reaches it. `visit(b, ended_before, ended_after)` is told of each bin and may return false to
// stop.
template <class Hazard, class Visit>
YARD_HD inline Outlook look_ahead(const BinEdges& edges, int64_t attained_us, const Hazard& hazard,
                                  const Visit& visit) {
  // The same bin as those who made the hazards have it: they are known from there on.
  const int32_t first = TimeBins::of_us(attained_us);
  const float attained_s = static_cast<float>(attained_us) * 1e-6F;
  float alive = 1, spent_s = 0, rank_s = 3e38F;
  for (int32_t b = first; b < TimeBins::kBins; ++b) {
    float chance = hazard(b);
    const float begin_s = b == first ? attained_s : edges.begin_s[b];
    float length_s = edges.begin_s[b + 1] - begin_s;
    if (b == first) {
      // The part of the bin that is still to come; in the last one there is always some.
      const float whole_s = edges.begin_s[b + 1] - edges.begin_s[b];
      if (length_s < 0.02F * whole_s) length_s = 0.02F * whole_s;
      chance = chance_in(length_s / whole_s, chance);
    }
    const float ends = alive * chance;
    if (!visit(b, 1 - alive, 1 - alive + ends)) break;
    spent_s += alive * time_in(chance) * length_s;
    alive -= ends;
    const float ended = 1 - alive;
    if (ended > 1e-6F && spent_s < rank_s * ended) rank_s = spent_s / ended;
  }
  // Who outlives all bins is taken to need as long again.
  const float beyond_s = edges.begin_s[TimeBins::kBins];
  return {spent_s + alive * beyond_s, rank_s};
}

YARD_HD inline Outlook look_ahead(const BinEdges& edges, int64_t attained_us,
                                  const float* hazards) {
  return look_ahead(
      edges, attained_us, [&](int32_t b) { return hazards[b]; },
      [](int32_t, float, float) { return true; });
}

// Writes the times left, in seconds, that shares `q` (rising, Q of them) of such jobs do not
// exceed.
YARD_HD inline void quantiles_left(const BinEdges& edges, int64_t attained_us, const float* hazards,
                                   const float* q, int32_t num_q, float* left_s) {
  const float attained_s = static_cast<float>(attained_us) * 1e-6F;
  int32_t i = 0;
  const auto visit = [&](int32_t b, float before, float after) {
    const float begin_s = edges.begin_s[b] > attained_s ? edges.begin_s[b] : attained_s;
    const float length_s = edges.begin_s[b + 1] > begin_s ? edges.begin_s[b + 1] - begin_s : 0;
    for (; i < num_q && q[i] <= after; ++i) {
      const float part = after > before ? (q[i] - before) / (after - before) : 1.0F;
      left_s[i] = begin_s - attained_s + part * length_s;
    }
    return i < num_q;
  };
  look_ahead(
      edges, attained_us, [&](int32_t b) { return hazards[b]; }, visit);
  for (; i < num_q; ++i) left_s[i] = edges.begin_s[TimeBins::kBins];
}

}  // namespace yard
