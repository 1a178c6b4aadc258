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
  // Shares of what a node has; a resource that is not given counts as unused.
  struct Shares {
    double gpus = 0, cpus = 0, mem = 0;
    double least() const { return std::min({gpus, cpus, mem}); }
    friend Shares operator+(const Shares& a, const Shares& b) {
      return {a.gpus + b.gpus, a.cpus + b.cpus, a.mem + b.mem};
    }
  };
  // A node that has room for a task.
  struct CandidateNode {
    int32_t node = kNone;
    Shares room;  // free before the task
    Shares need;  // what the task takes
    bool others;  // tasks of the job are on other nodes, and none on this one
  };
  // Rates a seat: the highest wins, the lowest node among equals.
  using Score = std::function<double(const CandidateNode&)>;

  // Requires: the view outlives this.
  explicit TaskPlacer(const View& view) : view_(view) {}

  // Places a waiting job with `tasks` of each of its groups; empty: as many as requested. Returns
  // the number of pieces; 0 if a task finds no place or the tenant's limit is reached. A plain job
  // is one task if a node has room; otherwise it takes what each node has. `score`, if given, gets
  // the mean over tasks. Requires: room for View::max_pieces() in `out`.
  int32_t place(int32_t slot, std::span<const int32_t> tasks, const Score& score_of, Piece* out,
                double* score = nullptr) const;

  // Returns whether the node has room for one more task of the group (plain job: one GPU) besides
  // those of `pieces` that are on the node. Requires: the job waits.
  bool takes(int32_t slot, std::span<const Piece> pieces, int32_t group, int32_t node) const;

  Shares room(int32_t node) const;
  // What one task of the group (plain job: one GPU) takes of the node.
  Shares need(int32_t slot, int32_t group, int32_t node) const;

 private:
  struct Tally;
  int32_t plain(int32_t slot, int32_t type, const Score& score_of, Piece* out, Tally& tally) const;
  int32_t shaped(int32_t slot, std::span<const int32_t> tasks, int32_t type, const Score& score_of,
                 Piece* out, Tally& tally) const;
  Shares left(const NodeLedger& ledger) const;

  const View& view_;
};

}  // namespace yard
