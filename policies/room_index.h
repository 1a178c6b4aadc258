// Which node would have room first if the holders were stopped, the last in order first? For every
// size of job that one node holds, the nodes stand in the order of the holder whose stop makes the
// room. Such a holder's key falls along a line, so that a change costs O(log nodes), and so does
// the question. As columns of a policy's memory; for whole GPUs that do not fail. Dims: S slots, M
// nodes, G GPUs, Z sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/sim/choose.h"
#include "env/sim/view.h"
#include "policies/held_order.h"
#include "policies/memory.h"

namespace yard {

class RoomIndex {
 public:
  // Whether the index serves these jobs under the placement: `consolidate` in a world without
  // shares and faults. Elsewhere it takes no memory, and nothing else may be called.
  static bool serves(const View& view, Placement placement);
  static size_t bytes(const View& view, Placement placement);

  // Requires: the same place in the memory every time; `view` and `held` outlive this.
  RoomIndex(const View& view, Placement placement, const HeldOrder& held, Carver& carver);

  bool serves() const { return serves_; }

  // To be told of every job that changed, or that was started or stopped, after it was; `held` may
  // be behind for those that a draft started: nobody can stop them yet.
  void follow(int32_t slot);

  // Works out anew what follow() told of. To be called before a decision ends.
  void refresh();

  // Whether it answers for jobs of so many GPUs: those that one node holds, or several nodes whole.
  // (What is left of several nodes adds up in too many ways.)
  bool answers(int32_t gpus) const;

  // The holders stop, the last in order first, those that come after `claim` alone, until a job of
  // `gpus` GPUs finds a place: writes those that are on a node which may become part of it. Returns
  // false where there is none even so. `margin`: see PreemptionRule. Requires: answers(gpus); it
  // finds none now.
  bool stops_for(const Claim& claim, int32_t gpus, double margin, std::vector<Claim>& stops);

 private:
  static uint64_t sizes_of(const View& view);
  void refresh(int32_t node);
  void list_holders(int32_t node);
  int32_t node_of(int32_t gpu) const;
  int64_t row(size_t z) const;
  Key room_key(size_t z, const Claim& next);
  std::optional<Key> room_key(size_t z, size_t count);
  void list_stops(size_t z, const Key& from, std::vector<Claim>& stops);

  const View& view_;
  const HeldOrder& held_;
  bool serves_;
  std::vector<int32_t> sizes_;      // (Z)  rising
  std::vector<HeldOrder> by_size_;  // (Z)  nodes
  uint8_t* bound_ = nullptr;        // (Z, M)  1: the key is only an upper bound
  int32_t* first_ = nullptr;    // (S)  1 + a GPU of the first node that the job is on, 0 for none
  int32_t* next_ = nullptr;     // (G)  1 + a GPU of the next node, 0 after the last
  int32_t* owner_ = nullptr;    // (G)  the slot that was there last; it may have left
  std::vector<int32_t> dirty_;  // nodes to look at anew
  struct Holder {
    int32_t slot, gpus;
    Key key;
  };
  std::vector<Holder> holders_;  // of one node, the last in order first
};

}  // namespace yard
