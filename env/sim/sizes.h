// Schedulers that say how large elastic jobs are: tasks are handed out one by one, to the job and
// role group that gains most by the next, until none fits. Who ran before the present slot of time
// began may get another size, at its beginning or with whatever happens in it; those that wait get
// what is left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "env/sim/owners.h"
#include "env/sim/plan.h"
#include "env/sim/task_placer.h"

namespace yard {

// What a job gets, by role group. A plain job has no groups: it gets all that it asks for.
struct JobSize {
  int32_t slot = kNone;
  std::vector<int32_t> tasks;  // (groups)
};

// Shares of a cluster: what a job's tasks take of all GPUs, CPUs and memory that there are.
class ClusterShares {
 public:
  explicit ClusterShares(const View& view);
  TaskPlacer::Shares of(const JobSize& size) const;
  TaskPlacer::Shares of_task(int32_t slot, int32_t group) const;
  // Dominant share: of what it takes most of (Ghodsi et al., NSDI 2011).
  static double dominant(const TaskPlacer::Shares& shares) {
    return std::max({shares.gpus, shares.cpus, shares.mem});
  }

 private:
  const View& view_;
  double gpus_ = 0, cpu_milli_ = 0, mem_mib_ = 0;  // 0: nobody tells
};

class Sizes {
 public:
  // What one more task of the group is worth to the job; it is not handed out at 0 or less.
  using Worth = std::function<double(const JobSize& now, int32_t group)>;
  // A task that is handed out: whose, and of which group. {kNone, kNone}: none.
  struct Grant {
    int32_t index = kNone, group = kNone;
  };

  // In which order jobs are offered the least with which they run: the lowest `first` first, equals
  // by submission; or, by progressive filling, the next job of the `owners` that have least.
  struct Offers {
    std::function<double(const JobSize& least)> first = {};  // empty: first come first served
    std::optional<Owners> owners = {};
  };

  // Jobs that may get a size now have the least with which they run, first come first served, by
  // shares alone. Requires: the view outlives this, and has the state before the draft.
  Sizes(const View& view, int64_t slot_us) : Sizes(view, slot_us, {}, nullptr) {}

  // The jobs that get a size now, in the order of submission.
  const std::vector<JobSize>& open() const { return open_; }
  // Whether one task more of each of the groups would be within what the job may have and fit.
  bool may_grow(int32_t index, std::span<const int32_t> groups) const;
  // Requires: may_grow().
  void grow(Grant grant);
  // The task that is worth most.
  Grant best(const Worth& worth) const;
  // What all jobs that hold or are to hold something take, as shares of the cluster.
  const TaskPlacer::Shares& used() const { return used_; }
  const ClusterShares& shares() const { return shares_; }

  // In which order the jobs that start find their places: as they are open(), or those of the least
  // dominant share first.
  enum class Places { kAsOpen, kSmallestFirst };

  // What found no place: jobs that were to start, and tasks of jobs that started with fewer.
  struct Missed {
    int32_t jobs = 0, tasks = 0;
  };

  // Writes starts, and stops of those that get another size, into the draft.
  Missed carry_out(Draft& draft, Places places = Places::kAsOpen);

  // Grows sizes until nothing gains by more.
  using Grow = std::function<void(Sizes&)>;

  // All of it: sizes by shares alone, `grow`, carry_out(). Where some job finds no place for what
  // it was given, all is done once more, for the jobs alone whose least finds one. What jobs or
  // tasks still leave free goes to the first of the others that fit, with their least. So no GPU
  // idles behind a job that fits nowhere. `grow` is called at most twice.
  static void hand_out(const View& view, int64_t slot_us, const Offers& offers, const Grow& grow,
                       Draft& draft, Places places = Places::kAsOpen);
  // Grows by best().
  static Grow by(const Worth& worth);

 private:
  bool elastic(int32_t slot) const;
  bool may_change(int32_t slot) const;
  int64_t slot_began_us() const { return view_.now_us() / slot_us_ * slot_us_; }
  bool fits(const TaskPlacer::Shares& more) const;
  void take(const TaskPlacer::Shares& more);
  // `trial`: what finds no place in it gets nothing; it is left as it was. Null: shares decide.
  Sizes(const View& view, int64_t slot_us, const Offers& offers, Draft* trial);
  void give_least(const Offers& offers, Draft* trial);
  void start_others(Draft& draft) const;
  void wake(Draft& draft) const;
  JobSize least(int32_t slot) const;
  JobSize held(int32_t slot) const;
  bool start(const JobSize& size, Draft& draft) const;

  const View& view_;
  int64_t slot_us_;
  ClusterShares shares_;
  TaskPlacer::Shares used_;
  std::vector<JobSize> open_;
  std::vector<int32_t> offered_;  // all that may get a size, in the order in which it is offered
};

// Dominant resource fairness between jobs (Ghodsi et al., NSDI 2011): the job with the least
// dominant share gains most, by the role group that is furthest behind what was asked for.
// Requires: both outlive it.
Sizes::Worth least_share(const View& view, const ClusterShares& shares);

}  // namespace yard
