// One world: a block with a state and its agenda.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "env/sim/advance.h"
#include "env/sim/workload.h"

namespace yard {

class World {
 public:
  // Requires: what `fixed` points to, and `memory`, outlive the world. At most `slots` jobs may be
  // live at once.
  World(const Fixed& fixed, int32_t slots,
        std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  World(World&&) = default;  // no copies: state_ points into block_

  void reset(int32_t first_job, int32_t end_job);

  // Copies another world's state; the next advance() rebuilds the agenda. Requires: the same sizes.
  void copy_from(const World& other);

  const Fixed& fixed() const { return fixed_; }
  const StateSizes& sizes() const { return sizes_; }
  ClusterState& state() { return state_; }
  const ClusterState& state() const { return state_; }
  Agenda& agenda() { return agenda_; }

  // The state's bytes, to save and restore a world in the same program; call plan_anew() after a
  // restore.
  std::span<std::byte> block() { return {block_.data()->bytes, state_bytes(sizes_)}; }
  std::span<const std::byte> block() const { return {block_.data()->bytes, state_bytes(sizes_)}; }

  // Lets the next advance() rebuild the agenda.
  void plan_anew();

  bool advance(const Truth& truth) { return yard::advance(fixed_, truth, state_, agenda_); }

 private:
  struct alignas(kColumnAlign) Line {
    std::byte bytes[kColumnAlign];
  };

  Fixed fixed_;
  StateSizes sizes_;
  std::pmr::vector<Line> block_;  // the state, then the agenda
  ClusterState state_;
  Agenda agenda_;
};

}  // namespace yard
