#include "env/sim/rules/world.h"

namespace yard {

World::World(const SimModel& fixed, int32_t slots, std::pmr::memory_resource* memory)
    : fixed_(fixed), sizes_(sizes_for(fixed, slots)), block_(memory) {
  const size_t state = state_bytes(sizes_);
  block_.resize((state + EventQueue::bytes(sizes_.slots) + kColumnAlign - 1) / kColumnAlign);
  std::byte* begin = block_.data()->bytes;
  state_ = state_in_block(begin, sizes_);
  event_queue_ = EventQueue::at(begin + state, sizes_.slots);
  reset(0, 0);
}

void World::invalidate_event_queue() {
  event_queue_.clear(sizes_.slots);
  for (int32_t slot = 0; slot < state_.head->high_water; ++slot) {
    const Phase phase = state_.phase[slot];
    if (phase == Phase::kStarting || phase == Phase::kRunning || phase == Phase::kStopping) {
      mark_next_event_stale(state_, slot);
    }
  }
}

}  // namespace yard
