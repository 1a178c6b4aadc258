#include "policies/first_come.h"

#include <set>
#include <vector>

namespace yard {

void start_first_come(const View& view, const TaskPlacer::Score& score, Draft& draft) {
  std::vector<int32_t> queue;
  for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
    queue.push_back(slot);
  }
  const TaskPlacer placer(view);
  std::set<int32_t> unplaceable;  // size classes without a placement
  for (const int32_t slot : queue) {
    if (unplaceable.contains(view.size_class(slot))) continue;
    const int32_t n = placer.place(slot, {}, score, draft.scratch());
    if (n == 0 || !draft.start(slot, draft.scratch(), n)) unplaceable.insert(view.size_class(slot));
  }
}

}  // namespace yard
