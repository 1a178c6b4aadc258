// A simulated cluster: one block of memory with a state and its event queue.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "env/sim/rules/advance.h"
#include "env/sim/state/workload.h"

namespace yard {

class World {
 public:
  // Requires: the columns to which `fixed` points, and `memory`, outlive the World. At most `slots`
  // jobs may be live at once.
  World(const SimModel& fixed, int32_t slots,
        std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  World(World&&) = default;  // no copies, because state_ points into block_

  void reset(int32_t first_job, int32_t end_job) {
    yard::reset(fixed_, state_, sizes_, event_queue_, first_job, end_job);
  }

  // Copies the state of `other`. Requires: both worlds have equal sizes.
  void copy_from(const World& other) {
    copy_state(sizes_, other.state_, state_);
    invalidate_event_queue();
  }

  const SimModel& fixed() const { return fixed_; }
  const StateSizes& sizes() const { return sizes_; }
  SimState& state() { return state_; }
  const SimState& state() const { return state_; }
  EventQueue& event_queue() { return event_queue_; }

  // Returns the state's bytes, to save and restore a World within this program. Call
  // invalidate_event_queue() after restoring the bytes.
  std::span<std::byte> raw_state() { return {block_.data()->bytes, state_bytes(sizes_)}; }
  std::span<const std::byte> raw_state() const {
    return {block_.data()->bytes, state_bytes(sizes_)};
  }

  // Makes the next advance() rebuild the event queue.
  void invalidate_event_queue();

  bool advance(const Truth& truth) { return yard::advance(fixed_, truth, state_, event_queue_); }

 private:
  struct alignas(kColumnAlign) CacheLine {
    std::byte bytes[kColumnAlign];
  };

  SimModel fixed_;
  StateSizes sizes_;
  std::pmr::vector<CacheLine> block_;  // memory of the state, and behind it of the event queue
  SimState state_;
  EventQueue event_queue_;
};

}  // namespace yard
