// Steps a second of one model on one GPU type, by batch, GPUs and spread: as measured where it was
// measured, in between along Pollux' form.
//
// Between two measured numbers of GPUs the speed goes from the one to the other in the form's shape
// and never back; beyond them it grows by the form's ratio. Batches likewise. Of several placements
// of as many GPUs on as many nodes the geometric mean counts. A batch larger than a GPU was ever
// seen to take is worked on in equal parts, whose gradients are added up before the exchange. What
// was measured on one side of a node's border alone is carried over by the all-reduce on the
// cluster's links. Of the two sides the one that was not measured never makes spreading a gain.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "env/sim/speed/all_reduce.h"
#include "env/sim/speed/pollux.h"
#include "env/sim/speed/speed.h"
#include "env/trace/profile.h"

namespace yard {

// By tier. What nothing is known of makes no difference to the tier below it.
using TierLinks = std::array<Link, kTiers>;

// The fewest nodes of a spread; the first one is inside a node.
constexpr std::array<int32_t, kSpreads> kFewestNodes = {1, 2, 3, 4, 5, 9};

class SpeedCurve {
 public:
  // Requires: a run on that type. `profile` need not outlive this. Gradient bytes of 0: not known.
  SpeedCurve(const ModelProfile& profile, const std::string& gpu_type, double gradient_bytes,
             const TierLinks& links);

  const PolluxForm& form() const { return form_; }

  // Steps a second for 0 (0) to `max_gpus` GPUs. `batch` is the profile's kind of batch.
  using Rates = std::array<std::vector<double>, kSpreads>;  // (spread, N)
  Rates steps_per_s(double batch, int32_t max_gpus) const;

  // Returns an iteration's time in the form when its exchange takes `longer` times as long.
  double form_iteration_s(double batch, int32_t gpus, int32_t spread, double longer = 1) const;

 private:
  struct Known {
    double steps_per_s = 0;
    bool exact = false;  // this very batch
  };
  using Batches = std::map<double, double>;  // local batch -> iteration [s], 0: no fit
  using Anchors = std::map<int32_t, Known>;  // GPUs ->
  struct Parts {
    double count = 1;  // whole
    double local_batch = 1;
  };

  Parts parts_of(double batch, int32_t gpus) const;
  double steps(int32_t gpus) const { return weak_ ? gpus : 1; }
  double sync_s(int32_t gpus, int32_t spread) const;
  double form_steps_per_s(double batch, int32_t gpus, int32_t spread) const;
  double compute_s(double local_batch) const;
  Known known(double batch, int32_t gpus, const Batches& batches, int32_t spread) const;
  Anchors anchors(double batch, int32_t spread) const;
  std::vector<double> along(double batch, int32_t spread, const Anchors& anchors,
                            int32_t max_gpus) const;

  bool weak_ = false;
  double gradient_bytes_ = 0;
  double largest_batch_ = 0;  // on one GPU
  bool inside_measured_ = false, across_measured_ = false;
  PolluxForm form_;
  TierLinks links_;
  std::array<std::map<int32_t, Batches>, kSpreads> runs_;  // by GPUs
  std::map<int32_t, Batches> across_;                      // the same for any number of nodes
};

}  // namespace yard
