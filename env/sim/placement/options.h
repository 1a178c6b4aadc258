// Lists the placement options of a job, from which heuristics, searches and networks pick one. Each
// GPU type has several kinds of options, which differ in their cost to other jobs:
//   together   consolidated: for every number of GPUs left free on the node, the best by rate
//              less interference cost
//   spread     on more nodes than needed, the emptiest first, and the fullest first
//   stop       consolidated, by preemption of jobs after it in order; and on any nodes
//   clear      consolidated, by migration of small jobs to other nodes of the type
// A waiting job may also keep waiting. A job that requests more than whole GPUs, or that fits on no
// single GPU type, has one option: the best-fit placement (placement_rules.h). A job of this kind
// that has no best-fit placement, and only one role group, of tasks with whole GPUs, has the option
// `stop` with one task per node.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "env/sim/placement/placement_rules.h"
#include "env/sim/placement/throughput_model.h"

namespace yard {

enum class OptionKind : uint8_t { kConsolidated, kSpread, kPreempt, kMoveOthers };
constexpr int kOptionKinds = 4;

struct JobMove {
  int32_t slot;
  int32_t node;  // destination node of the whole job
};

struct PlacementOption {
  OptionKind kind = OptionKind::kConsolidated;
  int32_t type = kNone;  // kNone: several
  std::vector<Piece> pieces = {};
  std::vector<int32_t> victims = {};  // slots of the jobs to preempt
  std::vector<JobMove> moves = {};
  double rate = 0;               // predicted
  double interference_cost = 0;  // GPUs of other jobs times their lost share of throughput
  int32_t left_over = 0;         // free GPUs that remain on the nodes of `pieces`
  int32_t gpus_moved = 0;        // GPUs of the jobs in `victims` and `moves`
};

struct AllowedOptionKinds {
  bool spread = true;
  bool stop = true;
  bool clear = true;
};

class PlacementOptions {
 public:
  // `preemptible_for(a, b)`: running job `a` may be preempted for `b`. `preempted_before(a, b)`:
  // `a` is preempted before `b`. `movable(a)`: running job `a` may be moved.
  struct JobPredicates {
    std::function<bool(int32_t, int32_t)> preemptible_for;
    std::function<bool(int32_t, int32_t)> preempted_before;
    std::function<bool(int32_t)> movable;
  };

  // Requires: `view`, `throughput_model` and captured objects outlive this PlacementOptions.
  PlacementOptions(const View& view, const ThroughputModel& throughput_model,
                   JobPredicates predicates)
      : view_(view), throughput_model_(throughput_model), predicates_(std::move(predicates)) {}

  // Returns the placement options, possibly none, of a waiting job or of a running job to move.
  std::vector<PlacementOption> of(int32_t slot, const AllowedOptionKinds& limits);

 private:
  int32_t free_gpus_on(int32_t node) const { return view_.node_free_gpus(node); }
  void add_consolidated(int32_t type);
  void add_spread(int32_t type, bool fullest_first);
  void add_preempting(int32_t type);
  void add_preempting_for_tasks();
  void add_preempting_anywhere(int32_t type);
  void add_moving_others(int32_t type);
  void add_anywhere();
  void compute_costs(PlacementOption& option);
  bool may_preempt(int32_t slot) const {
    const bool fits = requests_nothing_but_whole_gpus(slot) ||
                      (!requests_nothing_but_whole_gpus(slot_) && no_task_requests_gpu_share(slot));
    return slot != slot_ && fits && predicates_.preemptible_for(slot, slot_);
  }
  // Returns whether the job requests nothing but whole GPUs: no cores or memory, one group of
  // tasks.
  bool requests_nothing_but_whole_gpus(int32_t slot) const {
    return !view_.shaped(slot) || view_.requests_nothing_but_whole_gpus(slot);
  }
  // Returns whether no task of a job with role groups shares a GPU.
  bool no_task_requests_gpu_share(int32_t slot) const;
  // Appends to `victims`, by preempted_before(), the jobs to preempt until `gpus` GPUs of the node
  // are free. Returns false if preemption cannot free so many GPUs.
  bool find_victims_on_node(int32_t node, int32_t gpus, std::vector<int32_t>& victims) const;
  // Appends to `victims` the jobs to preempt until the node has room for a task of the job's only
  // role group, which may need CPU and memory, too.
  bool find_victims_for_task(int32_t node, std::vector<int32_t>& victims) const;
  bool find_moves_off_node(int32_t node, int32_t gpus, std::vector<JobMove>& moves) const;

  const View& view_;
  const ThroughputModel& throughput_model_;
  JobPredicates predicates_;
  int32_t slot_ = kNone, gpus_ = 0;
  std::vector<PlacementOption> options_;  // found so far
};

}  // namespace yard
