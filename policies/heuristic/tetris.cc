// Packing by alignment (Grandl et al., SIGCOMM 2014, section 3.2). Of all tasks and the nodes where
// they fit, the pair of best aligned demand and free resources goes first,
//   a = sum over resources r of demand_r room_r,   both as shares of the node's capacity.
// The alignment of a gang is the mean over its tasks.
#include <optional>
#include <set>

#include "env/sim/placement/task_placer.h"
#include "policies/policy.h"

namespace yard {
namespace {

double alignment(const TaskPlacer::CandidateNode& at) {
  return at.need.gpus * at.room.gpus + at.need.cpus * at.room.cpus + at.need.mem * at.room.mem;
}

class Tetris final : public Policy {
 public:
  void decide(const View& view, Memory&, Draft& draft) const override {
    std::vector<Piece> pieces(view.max_pieces());
    while (const std::optional<Pick> pick = best(view, pieces.data())) {
      const int32_t n = TaskPlacer(view).place(pick->slot, {}, alignment, pieces.data());
      if (!draft.start(pick->slot, pieces.data(), n)) return;
    }
  }

 private:
  struct Pick {
    int32_t slot;
    double score;
  };

  // Returns the best aligned job; the first one among identical requests and among ties.
  static std::optional<Pick> best(const View& view, Piece* pieces) {
    const TaskPlacer placer(view);
    std::optional<Pick> out;
    std::set<int32_t> seen;  // size classes
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      if (!seen.insert(view.request_class(slot)).second) continue;
      double score = 0;
      if (placer.place(slot, {}, alignment, pieces, &score) == 0) continue;
      if (!out || score > out->score) out = {slot, score};
    }
    return out;
  }
};

const PolicyRegistry::Add<Tetris> kTetris{
    "tetris",
    {.about = "packs by alignment: the job whose demand best matches the free resources goes first",
     .source = "Tetris, SIGCOMM 2014",
     .fidelity = "its alignment over GPUs, CPUs and memory; without its terms for the work left, "
                 "which is unknown, and for fairness"}};

}  // namespace
}  // namespace yard
