// Run-time estimate of Helios' QSSF (Hu et al., "Characterization and Prediction of Deep Learning
// Workloads in Large-Scale GPU Datacenters", SC 2021): the rolling mean of the jobs of one user and
// name, or else of the user's jobs of the size class, or else of all jobs of the size class. Unlike
// QSSF, this estimate equates names only if they differ in nothing but digits, and has no boosted
// trees.
// Dims: U users, A names, G size classes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "env/base/core/bump_allocator.h"
#include "env/predict/attained.h"
#include "env/predict/job_size.h"
#include "env/sim/view/view.h"

namespace yard {

class RollingEstimate {
 public:
  static size_t bytes(const View& view) { return BumpAllocator::bytes<Mean>(rows(view)); }

  // Requires: `bump` gives the same memory at every decision, filled with zeros before the first.
  RollingEstimate(const View& view, BumpAllocator& bump, Attained attained = Attained::kTime)
      : means_(bump.allocate<Mean>(rows(view))),
        num_users_(view.num_users()),
        attained_(attained) {}

  // Learns from the jobs that have ended since the last decision.
  void on_events(const View& view);

  // Returns the predicted total run time in seconds. A job that has run for longer than its
  // estimate is expected to run for as long again. Requires: the slot is live.
  float predicted_total_s(const View& view, int32_t slot) const;

 private:
  static constexpr float kLatest = 0.2F;  // least weight of the latest job of a name
  static constexpr float kFirst = 3600;   // estimate in seconds before any job has ended

  struct Mean {
    float jobs, seconds;
  };

  static int64_t rows(const View& view) {
    return kJobSizes * (1 + int64_t{view.num_users()}) + view.num_job_names();
  }

  static void add(Mean& mean, float ran_s, float least);
  float ran_s(const View& view, int32_t slot) const {
    return static_cast<float>(attained_us(view, slot, attained_)) * 1e-6F;
  }
  Mean& mean_of_size(const View& view, int32_t slot) const {
    return means_[gpu_size_bucket(view.gpus(slot))];
  }
  Mean* mean_of_user(const View& view, int32_t slot) const {
    if (view.user(slot) < 0) return nullptr;
    return &means_[kJobSizes * (1 + view.user(slot)) + gpu_size_bucket(view.gpus(slot))];
  }
  Mean* mean_of_name(const View& view, int32_t slot) const {
    if (view.name(slot) < 0) return nullptr;
    return &means_[kJobSizes * (1 + num_users_) + view.name(slot)];
  }

  Mean* means_;  // (G (1 + U) + A)  means by size, by user and size, and by name
  int32_t num_users_;
  Attained attained_;
};

}  // namespace yard
