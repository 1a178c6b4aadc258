// Jobs that hold GPUs and may be preempted, from the last in order to the first. ListedHolders
// sorts them at each decision; OrderedHolders reads an order kept between decisions.
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
  // Returns the next holder. Its slot is kNone after the first in order.
  virtual Claim next() = 0;

  // Returns an index that finds victims faster than a walk, or null if there is none.
  virtual RoomIndex* index() { return nullptr; }
};

class ListedHolders final : public Holders {
 public:
  explicit ListedHolders(std::vector<Claim> claims);
  Claim next() override;

 private:
  std::vector<Claim> claims_;  // a heap with the last in order on top
};

class OrderedHolders final : public Holders {
 public:
  // Requires: both outlive this; `order` does not change before the last next().
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
