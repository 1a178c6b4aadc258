#include "env/sim/in_place_of.h"

#include <algorithm>

#include "env/sim/choose.h"

namespace yard {

size_t pieces_of_a_place(const View& view) {
  return static_cast<size_t>(view.spec().num_nodes) *
         static_cast<size_t>(std::max(1, view.max_groups()));
}

std::vector<Piece> best_fit(const View& view, int32_t slot) {
  std::vector<Piece> out(pieces_of_a_place(view));
  out.resize(static_cast<size_t>(place(view, Placement::kBestFit, slot, out.data())));
  return out;
}

bool start_in_place_of(const View& view, int32_t slot, std::span<const int32_t> stops,
                       Draft& draft) {
  const size_t mark = draft.mark();
  std::vector<Piece> there;
  size_t n = 0;
  while (there.empty() && n < stops.size()) {
    draft.preempt(stops[n++]);
    if (view.free_gpus() >= view.gpus(slot)) there = best_fit(view, slot);
  }
  draft.undo_to(mark);
  if (there.empty()) return false;
  const auto lies_there = [&](int32_t other) {
    for (int32_t p = view.first_part(other); p != kNone; p = view.next_part(p)) {
      if (std::ranges::count(there, view.part_node(p), &Piece::node) > 0) return true;
    }
    return false;
  };
  for (const int32_t other : stops.first(n)) {
    if (lies_there(other)) draft.preempt(other);
  }
  if (draft.start(slot, there.data(), static_cast<int32_t>(there.size()))) return true;
  draft.undo_to(mark);
  return false;
}

}  // namespace yard
