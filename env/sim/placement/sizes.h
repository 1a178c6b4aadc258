// Chooses the sizes of elastic jobs: hands out tasks one by one, each to the job and role group
// that gains most, until no task fits. A job whose run began before the present time slot may be
// resized.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "env/sim/placement/owners.h"
#include "env/sim/placement/task_placer.h"
#include "env/sim/view/plan.h"

namespace yard {

// Number of tasks of a job by role group. A job without role groups gets its whole request.
struct JobTaskCounts {
  int32_t slot = kNone;
  std::vector<int32_t> tasks;  // (groups)
};

// Computes which shares of the cluster's GPUs, CPUs and memory a job's tasks take.
class ClusterShares {
 public:
  explicit ClusterShares(const View& view);
  TaskPlacer::Shares of(const JobTaskCounts& size) const;
  TaskPlacer::Shares shares_of_task(int32_t slot, int32_t group) const;
  // Returns the largest of the three shares (dominant share, Ghodsi et al., NSDI 2011).
  static double dominant_share(const TaskPlacer::Shares& shares) {
    return std::max({shares.gpus, shares.cpus, shares.mem});
  }

 private:
  const View& view_;
  double gpus_ = 0, cpu_milli_ = 0, mem_mib_ = 0;  // 0: unknown
};

class ElasticSizes {
 public:
  // Gain of a job from one more task of `group`. Only tasks with a gain above 0 are handed out.
  using TaskGain = std::function<double(const JobTaskCounts& now, int32_t group)>;
  // A task to hand out: index of the job in jobs_with_sizes(), and role group. kNone: no task.
  struct Grant {
    int32_t index = kNone, group = kNone;
  };

  // The order in which jobs are offered their minimum size: by rising `first` and then by
  // submission or, if `owners` is set, by progressive filling among the owners.
  struct OfferOrder {
    std::function<double(const JobTaskCounts& least)> first =
        {};  // empty: first come, first served
    std::optional<FairShareAmong> owners = {};
  };

  // Gives waiting and resizable jobs their minimum size, first come, first served, while shares
  // fit. Requires: `view` outlives this object, and no draft has changed the state of `view`.
  ElasticSizes(const View& view, int64_t slot_us) : ElasticSizes(view, slot_us, {}, nullptr) {}

  // Returns the jobs that have been given a size, in order of submission.
  const std::vector<JobTaskCounts>& jobs_with_sizes() const { return open_; }
  // Returns whether limits and shares allow job `index` one more task of each group in `groups`.
  bool may_grow(int32_t index, std::span<const int32_t> groups) const;
  // Hands out a task. Requires: may_grow() is true for the task.
  void grow(Grant grant);
  // Returns the task with the highest gain.
  Grant best_grant(const TaskGain& gain) const;
  // Returns the shares of the cluster that all jobs hold or will hold.
  const TaskPlacer::Shares& used_shares() const { return used_; }
  const ClusterShares& shares() const { return shares_; }

  // The order in which starting jobs are placed: by submission, or by least dominant share.
  enum class Places { kBySubmission, kSmallestFirst };

  // Numbers of jobs that found no placement, and of tasks missing in jobs that started.
  struct PlacementShortfall {
    int32_t jobs = 0, tasks = 0;
  };

  // Adds to the draft the starts of jobs, and preemptions of the jobs that are resized.
  PlacementShortfall apply(Draft& draft, Places places = Places::kBySubmission);

  // Function that grows sizes until no task has a gain.
  using Grow = std::function<void(ElasticSizes&)>;

  // Sizes all jobs by shares, calls `grow`, and calls apply(). If a job cannot be placed, repeats
  // these steps with only the jobs whose minimum size can be placed. If jobs or tasks are still
  // left out, starts the first waiting jobs that fit at their minimum size, so that no GPU idles
  // behind a job that fits nowhere. Calls `grow` at most twice.
  static void size_and_place_jobs(const View& view, int64_t slot_us, const OfferOrder& offers,
                                  const Grow& grow, Draft& draft,
                                  Places places = Places::kBySubmission);
  // Returns a function that hands out best_grant() until no task has a gain.
  static Grow by(const TaskGain& gain);

 private:
  bool is_elastic(int32_t slot) const;
  bool may_resize(int32_t slot) const;
  int64_t time_slot_begin_us() const { return view_.now_us() / slot_us_ * slot_us_; }
  bool fits_in_cluster(const TaskPlacer::Shares& more) const;
  // Jobs without a placement in draft `trial` get no size; null: shares decide. Restores `trial`.
  ElasticSizes(const View& view, int64_t slot_us, const OfferOrder& offers, Draft* trial);
  void wake_at_next_slot(Draft& draft) const;
  JobTaskCounts minimum_size(int32_t slot) const;
  JobTaskCounts held_size(int32_t slot) const;
  bool start_with_largest_fitting_size(const JobTaskCounts& size, Draft& draft) const;

  const View& view_;
  int64_t slot_us_;
  ClusterShares shares_;
  TaskPlacer::Shares used_;
  std::vector<JobTaskCounts> open_;
  std::vector<int32_t>
      offered_;  // slots of all jobs that were offered their minimum, in the order of the offers
};

// Dominant resource fairness between jobs (Ghodsi et al., NSDI 2011): the job with the least
// dominant share gains most. Requires: both arguments outlive the result.
ElasticSizes::TaskGain dominant_share_gain(const View& view, const ClusterShares& shares);

}  // namespace yard
