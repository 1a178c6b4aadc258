#include "env/predict/hazard.h"

namespace yard {

RemainingTime predict_remaining(const BinEdges& edges, int64_t attained_us, int64_t until_us,
                                const float* hazards, const EndPositionsInBins& ends_within_bin) {
  const float attained_s = static_cast<float>(attained_us) * 1e-6F;
  const float until_s = static_cast<float>(until_us) * 1e-6F;
  constexpr float kTiny = 1e-6F;
  // Starts at the same bin as the hazards do: they are defined from this bin on.
  const int32_t first = TimeBins::bin_of_us(attained_us);
  // Probabilities of ending in a whole bin, divided here in a loop that vectorises.
  float chances[TimeBins::kBins];
  for (int32_t b = first; b < TimeBins::kBins; ++b) chances[b] = hazards[b] / (1 + kTiny);
  float alive = 1, spent_s = 0, rank_s = 3e38F;
  for (int32_t b = first; b < TimeBins::kBins; ++b) {
    // Whole bins, the common case: the code below, simplified for from = 0 and to = 1.
    for (; b < TimeBins::kBins && attained_s <= edges.begin_s[b]; ++b) {
      const float whole_s = edges.begin_s[b + 1] - edges.begin_s[b];
      if (until_s - edges.begin_s[b] <= whole_s) break;
      spent_s += alive * whole_s * (1 - 0.5F * chances[b]);
      alive -= alive * chances[b];
      const float ended = 1 - alive;
      if (ended > kTiny && spent_s < rank_s * ended) rank_s = spent_s / ended;
    }
    if (b == TimeBins::kBins) break;
    // The part of the bin that counts. In the job's current bin some part is always left.
    const float edge_s = edges.begin_s[b], whole_s = edges.begin_s[b + 1] - edge_s;
    float from = (attained_s - edge_s) / whole_s, to = (until_s - edge_s) / whole_s;
    from = from < 0 ? 0 : from > 0.98F ? 0.98F : from;
    const bool last = to <= 1;
    to = last ? (to > from ? to : from) : 1;
    const float before = from > 0 ? ends_within_bin.share_ending_before(b, from) : 0,
                after = last ? ends_within_bin.share_ending_before(b, to) : 1;
    const float chance = hazards[b] * (after - before) / (1 - hazards[b] * before + kTiny);
    // Ends are taken to fall at the middle of the part, on average.
    spent_s += alive * (to - from) * whole_s * (1 - 0.5F * chance);
    alive -= alive * chance;
    if (last) return {spent_s, spent_s < rank_s ? spent_s : rank_s, 1 - alive};
    const float ended = 1 - alive;
    if (ended > kTiny && spent_s < rank_s * ended) rank_s = spent_s / ended;
  }
  // Survivors of the last bin are expected to run for as long again.
  return {spent_s + alive * edges.begin_s[TimeBins::kBins], rank_s, 1 - alive};
}

float probability_ended_within(const BinEdges& edges, int64_t attained_us, int64_t until_us,
                               const float* hazards, const EndPositionsInBins& ends_within_bin,
                               double left_s) {
  const int64_t by_us = attained_us + static_cast<int64_t>(left_s * 1e6);
  if (by_us >= until_us) return 1;
  return by_us > attained_us
             ? predict_remaining(edges, attained_us, by_us, hazards, ends_within_bin).ended
             : 0;
}

}  // namespace yard
