// Steps/s of one model on one GPU type, by batch size, number of GPUs and spread (number of nodes).
// Measured values are kept, and the fitted form of Pollux (pollux.h) gives values in between.
//
// Between two measured numbers of GPUs (or batch sizes) the speed is interpolated monotonically
// along Pollux's form. Beyond the measured numbers, the nearest measured speed is scaled by the
// ratio of the form's speeds. Speeds measured at equal numbers of GPUs and nodes are averaged
// geometrically. A batch larger than any measured batch is split into equal parts (gradient
// accumulation). If only one-node or only multi-node runs exist, the all-reduce on the cluster's
// links gives the missing speeds. Unmeasured spreads are never faster than one node.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "env/sim/speed/all_reduce.h"
#include "env/sim/speed/pollux.h"
#include "env/sim/speed/speed.h"
#include "env/trace/profiles/profile.h"

namespace yard {

// Links by tier. An unknown link is taken to be as fast as the link of the tier below.
using TierLinks = std::array<Link, kTiers>;

// The fewest nodes of each spread. Spread 0 is one node.
constexpr std::array<int32_t, kSpreads> kMinNodes = {1, 2, 3, 4, 5, 9};

class SpeedCurve {
 public:
  // Keeps no reference to `profile`. `gradient_bytes` 0: unknown size. Requires: `profile` has a
  // run on `gpu_type`.
  SpeedCurve(const ModelProfile& profile, const std::string& gpu_type, double gradient_bytes,
             const TierLinks& links);

  const PolluxForm& pollux_form() const { return form_; }

  // Returns steps/s for 0 (0 steps/s) to `max_gpus` GPUs, by spread. `batch` is a batch size as
  // ModelProfile::identifying_batch_size() returns it.
  using Rates = std::array<std::vector<double>, kSpreads>;  // (spread, N)
  Rates steps_per_s(double batch, int32_t max_gpus) const;

  // Returns the Pollux form's iteration time [s] if the exchange takes `exchange_time_factor` times
  // as long.
  double pollux_iteration_s(double batch, int32_t gpus, int32_t spread,
                            double exchange_time_factor = 1) const;

 private:
  struct KnownSpeed {
    double steps_per_s = 0;
    bool exact = false;  // whether the speed was measured with this batch size
  };
  using Batches = std::map<double, double>;       // local batch -> iteration [s]; 0: does not fit
  using Anchors = std::map<int32_t, KnownSpeed>;  // known speeds by number of GPUs
  struct GradientAccumulation {
    double count = 1;  // an integer
    double local_batch = 1;
  };

  GradientAccumulation split_batch(double batch, int32_t gpus) const;
  double worker_steps_per_iteration(int32_t gpus) const { return weak_ ? gpus : 1; }
  double sync_s(int32_t gpus, int32_t spread) const;
  double pollux_steps_per_s(double batch, int32_t gpus, int32_t spread) const;
  double compute_s(double local_batch) const;
  KnownSpeed anchor_speed(double batch, int32_t gpus, const Batches& batches, int32_t spread) const;
  Anchors anchor_speeds_by_gpus(double batch, int32_t spread) const;
  std::vector<double> interpolate(double batch, int32_t spread, const Anchors& anchors,
                                  int32_t max_gpus) const;

  bool weak_ = false;
  double gradient_bytes_ = 0;
  double largest_batch_ = 0;  // largest measured local batch size
  bool inside_measured_ = false, across_measured_ = false;
  PolluxForm form_;
  TierLinks links_;
  std::array<std::map<int32_t, Batches>, kSpreads> runs_;  // by GPUs
  std::map<int32_t, Batches> across_;  // by number of GPUs, over all spreads above 0
};

}  // namespace yard
