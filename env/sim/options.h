// What can be done with one job now: a list that heuristics, searches and networks all pick from.
// Per GPU type it holds each kind of place that differs in what it costs others:
//   together   on as few nodes as hold it: for every count of GPUs left over the node where it is
//              fastest and does least harm
//   spread     over more nodes than it needs, the emptiest first, and the fullest first
//   stop       together, where jobs that come after it make room; and wherever the last of these
//   are clear      together, where small jobs move to other nodes of the type
// What waits may also wait on. A job with needs beyond whole GPUs, or one that no type holds alone,
// has the place of best-fit (choose.h) as its only option.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "env/sim/choose.h"
#include "env/sim/foretell.h"

namespace yard {

enum class Way : uint8_t { kTogether, kSpread, kStop, kClear };
constexpr int kWays = 4;

struct Move {
  int32_t slot;
  int32_t node;  // where all its GPUs go
};

struct Option {
  Way way = Way::kTogether;
  int32_t type = kNone;  // kNone: several
  std::vector<Piece> pieces = {};
  std::vector<int32_t> stops = {};  // slots that make room
  std::vector<Move> moves = {};
  double rate = 0;         // that is foretold
  double harm = 0;         // to those beside it: GPUs times the share of their speed
  int32_t left_over = 0;   // free GPUs that stay on the nodes it shares with others' or nobody
  int32_t gpus_moved = 0;  // of the jobs that stop or move
};

struct OptionLimits {
  bool spread = true;
  bool stop = true;
  bool clear = true;
};

class Options {
 public:
  // `comes_after(a, b)`: whether running job `a` may be stopped for `b`; `later(a, b)`: whether `a`
  // goes first of two that may. `movable(a)`: whether a running job may be moved.
  struct Who {
    std::function<bool(int32_t, int32_t)> comes_after;
    std::function<bool(int32_t, int32_t)> later;
    std::function<bool(int32_t)> movable;
  };

  // Requires: all outlive this.
  Options(const View& view, const Foretell& foretell, Who who)
      : view_(view), foretell_(foretell), who_(std::move(who)) {}

  // Returns the options of a job that waits, or of one that runs and could move.
  std::vector<Option> of(int32_t slot, const OptionLimits& limits);

 private:
  int32_t free_on(int32_t node) const { return view_.node_free(node); }
  void add_together(int32_t type);
  void add_spread(int32_t type, bool fullest_first);
  void add_stop(int32_t type);
  void add_stop_anywhere(int32_t type);
  void add_clear(int32_t type);
  void add_anywhere();
  void finish(Option& option);
  bool plain(int32_t slot) const;
  // The holders to stop on a node so that it has `gpus` free, the last in order first; empty where
  // that cannot be.
  bool stops_on(int32_t node, int32_t gpus, std::vector<int32_t>& stops) const;
  bool moves_off(int32_t node, int32_t gpus, std::vector<Move>& moves) const;

  const View& view_;
  const Foretell& foretell_;
  Who who_;
  int32_t slot_ = kNone, gpus_ = 0;
  std::vector<Option> options_;  // those found so far
};

}  // namespace yard
