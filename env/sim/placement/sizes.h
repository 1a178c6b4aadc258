// Chooses the sizes of elastic jobs: hands out tasks one by one, each to the job and role group
// that gains most, until none fits. A job that ran before the present time slot began may be
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

// Tasks of a job by role group. A plain job has no groups and gets its whole request.
struct JobTaskCounts {
  int32_t slot = kNone;
  std::vector<int32_t> tasks;  // (groups)
};

// Shares of all GPUs, CPUs and memory of the cluster that a job's tasks take.
class ClusterShares {
 public:
  explicit ClusterShares(const View& view);
  TaskPlacer::Shares of(const JobTaskCounts& size) const;
  TaskPlacer::Shares of_task(int32_t slot, int32_t group) const;
  // Dominant share: the largest of the three (Ghodsi et al., NSDI 2011).
  static double dominant(const TaskPlacer::Shares& shares) {
    return std::max({shares.gpus, shares.cpus, shares.mem});
  }

 private:
  const View& view_;
  double gpus_ = 0, cpu_milli_ = 0, mem_mib_ = 0;  // 0: not given
};

class ElasticSizes {
 public:
  // Gain of the job from one more task of the group. A task with no gain above 0 is not handed out.
  using TaskGain = std::function<double(const JobTaskCounts& now, int32_t group)>;
  // A task to hand out: the job's index in open(), and the group. {kNone, kNone}: none.
  struct Grant {
    int32_t index = kNone, group = kNone;
  };

  // The order in which jobs are offered their minimum: by rising `first`, then by submission; or,
  // by progressive filling, the next job of the `owners` with the least share.
  struct Offers {
    std::function<double(const JobTaskCounts& least)> first =
        {};  // empty: first come, first served
    std::optional<FairShareAmong> owners = {};
  };

  // Gives waiting and resizable jobs their minimum, first come, first served, as far as shares fit.
  // Requires: the view outlives this, and has the state before the draft.
  ElasticSizes(const View& view, int64_t slot_us) : ElasticSizes(view, slot_us, {}, nullptr) {}

  // The jobs that are given a size now, in order of submission.
  const std::vector<JobTaskCounts>& open() const { return open_; }
  // Returns whether the job may have one more task of each group in `groups`, as far as shares fit.
  bool may_grow(int32_t index, std::span<const int32_t> groups) const;
  // Requires: may_grow().
  void grow(Grant grant);
  // The task with the highest gain.
  Grant best(const TaskGain& gain) const;
  // What all jobs hold or are to hold, as shares of the cluster.
  const TaskPlacer::Shares& used() const { return used_; }
  const ClusterShares& shares() const { return shares_; }

  // The order in which starting jobs are placed: as in open(), or by least dominant share.
  enum class Places { kBySubmission, kSmallestFirst };

  // What could not be placed: jobs to be started, and tasks of jobs that started with fewer.
  struct Unplaced {
    int32_t jobs = 0, tasks = 0;
  };

  // Adds starts, and stops of the jobs that are resized, to the draft.
  Unplaced apply(Draft& draft, Places places = Places::kBySubmission);

  // Grows sizes until no task gains.
  using Grow = std::function<void(ElasticSizes&)>;

  // All steps: sizes by shares, `grow`, apply(). If a size finds no place, repeats all steps with
  // only the jobs whose minimum can be placed. If jobs are left out or got fewer tasks than their
  // size, then starts the first other jobs that fit at their minimum, so that no GPU idles behind a
  // job that fits nowhere. Calls `grow` at most twice.
  static void hand_out(const View& view, int64_t slot_us, const Offers& offers, const Grow& grow,
                       Draft& draft, Places places = Places::kBySubmission);
  // Grows by best().
  static Grow by(const TaskGain& gain);

 private:
  bool elastic(int32_t slot) const;
  bool resizable(int32_t slot) const;
  int64_t time_slot_begin_us() const { return view_.now_us() / slot_us_ * slot_us_; }
  bool fits(const TaskPlacer::Shares& more) const;
  // `trial`: jobs without a place in this draft get nothing; unchanged. Null: shares decide.
  ElasticSizes(const View& view, int64_t slot_us, const Offers& offers, Draft* trial);
  void wake(Draft& draft) const;
  JobTaskCounts least(int32_t slot) const;
  JobTaskCounts held(int32_t slot) const;
  bool start(const JobTaskCounts& size, Draft& draft) const;

  const View& view_;
  int64_t slot_us_;
  ClusterShares shares_;
  TaskPlacer::Shares used_;
  std::vector<JobTaskCounts> open_;
  std::vector<int32_t>
      offered_;  // slots of all jobs that were offered their minimum, in the order of the offers
};

// Dominant resource fairness between jobs (Ghodsi et al., NSDI 2011): the job with the least
// dominant share gains most, in the role group furthest behind. Requires: both outlive the gain.
ElasticSizes::TaskGain dominant_share_gain(const View& view, const ClusterShares& shares);

}  // namespace yard
