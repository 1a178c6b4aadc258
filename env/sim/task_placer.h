// Where the tasks of a job go one by one, each to the node that a policy likes best then: for
// policies that weigh nodes, beside the rules of choose.h.
//
//   const TaskPlacer placer(view);
//   const int32_t n = placer.place(slot, {}, [](const TaskPlacer::Seat& at) { return at.room.gpus;
//   },
//                                  draft.scratch());
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

#include "env/sim/choose.h"

namespace yard {

class TaskPlacer {
 public:
  // Shares of what a node has; of what it does not tell, 0 is used.
  struct Shares {
    double gpus = 0, cpus = 0, mem = 0;
    double least() const { return std::min({gpus, cpus, mem}); }
  };
  // A node on which a task could go now.
  struct Seat {
    int32_t node = kNone;
    Shares room;  // free before it
    Shares need;  // that it takes
    bool others;  // tasks of the job lie on other nodes already, and none on this one
  };
  // How good a seat is: the higher the better; the lowest node among equals.
  using Score = std::function<double(const Seat&)>;

  // Requires: the view outlives this.
  explicit TaskPlacer(const View& view) : view_(view) {}

  // Writes where a job that waits goes, with `tasks` of each of its groups, or as many as it asks
  // for where that is empty, and returns the number of pieces; 0: some task finds no place, or its
  // tenant's limit is reached. A plain job is one task where some node has room for all of it, else
  // it takes what each node has. `score`, where given, gets the mean over its tasks.
  // Requires: room for spec().num_nodes pieces a role group in `out`.
  int32_t place(int32_t slot, std::span<const int32_t> tasks, const Score& score_of, Piece* out,
                double* score = nullptr) const;

  // Whether one task more of the group could go to the node, where `pieces` are what the job is to
  // hold already; of a plain job: a GPU. Requires: the job waits.
  bool takes(int32_t slot, std::span<const Piece> pieces, int32_t group, int32_t node) const;

  Shares room(int32_t node) const;
  // What one task of the group takes of the node; of a plain job: a GPU.
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
