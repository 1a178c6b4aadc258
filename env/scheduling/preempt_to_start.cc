#include "env/scheduling/preempt_to_start.h"

#include <algorithm>

#include "env/sim/placement/placement_rules.h"

namespace yard {

std::vector<Piece> best_fit(const View& view, int32_t slot) {
  std::vector<Piece> out(view.max_pieces());
  out.resize(static_cast<size_t>(place(view, PlacementRule::kBestFit, slot, out.data())));
  return out;
}

bool preempt_to_start(const View& view, int32_t slot, std::span<const int32_t> victims,
                      Draft& draft) {
  const size_t mark = draft.mark();
  std::vector<Piece> placement;
  size_t n = 0;
  while (placement.empty() && n < victims.size()) {
    draft.preempt(victims[n++]);
    if (view.free_gpus() >= view.gpus(slot)) placement = best_fit(view, slot);
  }
  draft.undo_to(mark);
  if (placement.empty()) return false;
  const auto holds_node = [&](int32_t other) {
    for (int32_t p = view.first_part(other); p != kNone; p = view.next_part(p)) {
      if (std::ranges::count(placement, view.part_node(p), &Piece::node) > 0) return true;
    }
    return false;
  };
  for (const int32_t other : victims.first(n)) {
    if (holds_node(other)) draft.preempt(other);
  }
  if (draft.start(slot, placement)) return true;
  draft.undo_to(mark);
  return false;
}

}  // namespace yard
