// Run-time estimate of Helios' QSSF (Hu et al., "Characterization and Prediction of Deep Learning
// Workloads in Large-Scale GPU Datacenters", SC 2021): the rolling mean of jobs of one user and
// name; else of the user's jobs of the size class; else of all jobs of the size class. Simplified:
// names match if they differ in digits only, and there are no boosted trees.
// Dims: U users, A names, G size classes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "env/base/core/bump_allocator.h"
#include "env/predict/job_size.h"

namespace yard {

class RollingEstimate {
 public:
  // `View`: env/sim/view/view.h.
  template <class View>
  static size_t bytes(const View& view) {
    return BumpAllocator::bytes<Mean>(rows(view));
  }

  // Requires: `bump` gives the same memory at every decision, filled with zeros before the first.
  template <class View>
  RollingEstimate(const View& view, BumpAllocator& bump)
      : means_(bump.allocate<Mean>(rows(view))), num_users_(view.num_users()) {}

  // Learns from the jobs that have ended since the last decision.
  template <class View>
  void on_events(const View& view) {
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      const int32_t slot = view.changed(i);
      if (!view.ran_to_its_end(slot)) continue;
      const float ran_s = static_cast<float>(view.attained_us(slot)) * 1e-6F;
      add(of_size(view, slot), ran_s, 0);
      if (Mean* mean = of_user(view, slot)) add(*mean, ran_s, 0);
      if (Mean* mean = of_name(view, slot)) add(*mean, ran_s, kLatest);
    }
  }

  // Returns the predicted total run time in seconds. A job that exceeds its estimate is expected to
  // run as long again. Requires: the slot is live.
  template <class View>
  float total_s(const View& view, int32_t slot) const {
    const Mean* mean = of_name(view, slot);
    if (mean == nullptr || mean->jobs == 0) mean = of_user(view, slot);
    if (mean == nullptr || mean->jobs == 0) mean = &of_size(view, slot);
    const float total_s = mean->jobs > 0 ? mean->seconds : kFirst;
    const float ran_s = static_cast<float>(view.attained_us(slot)) * 1e-6F;
    return total_s > ran_s ? total_s : 2 * ran_s;
  }

 private:
  static constexpr float kLatest = 0.2F;  // least weight of the latest job of a name
  static constexpr float kFirst = 3600;   // seconds, before any job has ended

  struct Mean {
    float jobs, seconds;
  };

  template <class View>
  static int64_t rows(const View& view) {
    return kJobSizes * (1 + int64_t{view.num_users()}) + view.num_job_names();
  }

  static void add(Mean& mean, float ran_s, float least) {
    mean.jobs += 1;
    const float part = 1 / mean.jobs;
    mean.seconds += (part > least ? part : least) * (ran_s - mean.seconds);
  }

  template <class View>
  Mean& of_size(const View& view, int32_t slot) const {
    return means_[gpu_size_bucket(view.gpus(slot))];
  }
  template <class View>
  Mean* of_user(const View& view, int32_t slot) const {
    if (view.user(slot) < 0) return nullptr;
    return &means_[kJobSizes * (1 + view.user(slot)) + gpu_size_bucket(view.gpus(slot))];
  }
  template <class View>
  Mean* of_name(const View& view, int32_t slot) const {
    if (view.name(slot) < 0) return nullptr;
    return &means_[kJobSizes * (1 + num_users_) + view.name(slot)];
  }

  Mean* means_;  // (G (1 + U) + A)
  int32_t num_users_;
};

}  // namespace yard
