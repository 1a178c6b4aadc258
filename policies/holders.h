// The jobs that hold GPUs and may be stopped, from the last in order on: sorted at this decision,
// or kept in order between decisions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policies/held_order.h"
#include "policies/room_index.h"

namespace yard {

class Holders {
 public:
  virtual ~Holders() = default;
  // Returns the next one, without a slot after the first in order.
  virtual Claim next() = 0;

  // Where there is an index of rooms, which answers sooner than a walk.
  virtual RoomIndex* index() { return nullptr; }
};

class ListedHolders final : public Holders {
 public:
  explicit ListedHolders(std::vector<Claim> claims);
  Claim next() override;

 private:
  std::vector<Claim> claims_;  // a heap, the last in order on top
};

class OrderedHolders final : public Holders {
 public:
  // Requires: both outlive this, and `order` does not change before the last next().
  OrderedHolders(const HeldOrder& order, RoomIndex& rooms, int64_t now_us)
      : order_(order), rooms_(rooms), now_us_(now_us) {}
  Claim next() override;
  RoomIndex* index() override { return rooms_.serves() ? &rooms_ : nullptr; }

 private:
  const HeldOrder& order_;
  RoomIndex& rooms_;
  int64_t now_us_;
  std::optional<HeldOrder::Walk> walk_;
};

}  // namespace yard
