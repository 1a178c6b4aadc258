// Places the tasks of a job one by one, each on the node with the highest score at that moment.
//
//   const TaskPlacer placer(view);
//   const auto score = [](const TaskPlacer::CandidateNode& at) { return at.room.gpus; };
//   const int32_t n = placer.place(slot, {}, score, draft.scratch());
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

#include "env/sim/placement/placement_rules.h"

namespace yard {

class TaskPlacer {
 public:
  // Shares of a node's GPUs, CPUs and memory. A resource of unknown capacity counts as unused.
  struct Shares {
    double gpus = 0, cpus = 0, mem = 0;
    double min_share() const { return std::min({gpus, cpus, mem}); }
    friend Shares operator+(const Shares& a, const Shares& b) {
      return {a.gpus + b.gpus, a.cpus + b.cpus, a.mem + b.mem};
    }
  };
  // A node that has room for a task.
  struct CandidateNode {
    int32_t node = kNone;
    Shares room;  // shares that are free before the task is placed
    Shares need;  // shares that the task takes
    bool others;  // whether other nodes hold tasks of the job and this node holds none
  };
  // Rates a candidate node: the highest score wins, and the lowest node among equal scores.
  using Score = std::function<double(const CandidateNode&)>;

  // Requires: `view` outlives this object.
  explicit TaskPlacer(const View& view) : view_(view) {}

  // Places a waiting job with `tasks` by role group; empty: as many as requested. Returns the
  // number of pieces; 0 if a task finds no node or the tenant's limit is reached. A job without
  // groups is one task if a node has room for it, and is otherwise split over nodes. Writes the
  // mean score of tasks to `score`. Requires: `out` has room for View::max_pieces().
  int32_t place(int32_t slot, std::span<const int32_t> tasks, const Score& score_of, Piece* out,
                double* score = nullptr) const;

  // Returns whether the node has room for one more task of the group (one GPU for a job without
  // role groups) in addition to the `pieces` on it. Requires: the job waits.
  bool has_room_for_task(int32_t slot, std::span<const Piece> pieces, int32_t group,
                         int32_t node) const;

  // Returns whether the node would have room for a task of the group if the `leaving` jobs were
  // preempted. Requires: the job waits and has role groups.
  bool has_room_after_preempting(int32_t slot, int32_t group, int32_t node,
                                 std::span<const int32_t> leaving) const;

  Shares free_shares(int32_t node) const;
  // Returns the shares of the node that one task of the group takes (without role groups: one GPU).
  Shares needed_shares(int32_t slot, int32_t group, int32_t node) const;

 private:
  struct Tally;
  int32_t place_plain_job(int32_t slot, int32_t type, const Score& score_of, Piece* out,
                          Tally& tally) const;
  int32_t place_shaped_job(int32_t slot, std::span<const int32_t> tasks, int32_t type,
                           const Score& score_of, Piece* out, Tally& tally) const;
  Shares remaining_shares(const NodeLedger& ledger) const;

  const View& view_;
};

}  // namespace yard
