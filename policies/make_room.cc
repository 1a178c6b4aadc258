#include "policies/make_room.h"

#include <algorithm>

#include "policies/room_count.h"

namespace yard {

// Returns the i-th holder from the last in order, or null if there are fewer.
const Claim* RoomMaker::holder(size_t i) {
  while (i >= walked_.size()) {
    Claim next = holders_.next();
    if (next.slot == kNone) return nullptr;
    if (rule_.margin != 0) next.key.value /= 1 + rule_.margin;
    walked_.push_back(next);
  }
  return &walked_[i];
}

// Calls does(holder) for each holder after `claim`, last in order first, until it returns true.
// Skips those that the draft has already stopped. Returns whether a call returned true.
template <class Does>
bool RoomMaker::walk(const Claim& claim, Does does) {
  for (size_t i = 0;; ++i) {
    const Claim* other = holder(i);
    if (other == nullptr || !(claim.key < other->key)) return false;
    const Claim stop = *other;
    if (rule_.may_preempt && !rule_.may_preempt(claim.slot, stop.slot)) continue;
    if (view_.holds(stop.slot) && does(stop)) return true;
  }
}

bool RoomMaker::somebody_after(const Claim& claim) {
  return walk(claim, [](const Claim&) { return true; });
}

bool RoomMaker::start(const Claim& claim) {
  stops_.clear();
  const bool counts = !view_.shaped(claim.slot) && !view_.has_shares() && !view_.spec().one_type;
  if (!list_for_limit(claim)) return false;
  if (!(counts ? list_by_count(claim) : list_by_trial(claim))) return false;
  std::sort(stops_.begin(), stops_.end(),
            [](const Claim& a, const Claim& b) { return b.key < a.key; });
  any_place_ = !view_.shaped(claim.slot) && !view_.spec().one_type &&
               rule_.of(claim.slot) != Placement::kConsolidate;
  if (!any_place_) {
    const size_t mark = draft_.mark();
    stop_all();
    find_pieces(claim.slot);
    draft_.undo_to(mark);
  }
  counts ? spare_by_count(claim) : spare_by_trial(claim);
  stop_all();
  if (any_place_) find_pieces(claim.slot);
  const bool started =
      draft_.start(claim.slot, pieces_.data(), static_cast<int32_t>(pieces_.size()));
  YARD_CHECK(started, "a place that was there is not");
  return true;
}

void RoomMaker::stop_all() {
  for (const Claim& stop : stops_) draft_.preempt(stop.slot);
}

void RoomMaker::find_pieces(int32_t slot) {
  Piece* found = draft_.scratch();
  pieces_.assign(found, found + place(view_, rule_.of(slot), slot, found));
}

// --- the tenant's limit

bool RoomMaker::same_tenant(int32_t a, int32_t b) const {
  return view_.tenant(a) != kNone && view_.tenant(a) == view_.tenant(b);
}

void RoomMaker::list(const Claim& stop, const Claim& claim) {
  stops_.push_back(stop);
  if (same_tenant(stop.slot, claim.slot)) above_ -= view_.gpus(stop.slot);
}

// Lists holders of the claim's tenant until it is within its limit. Returns false if it never is.
bool RoomMaker::list_for_limit(const Claim& claim) {
  const int32_t t = view_.tenant(claim.slot);
  above_ = 0;
  if (t == kNone) return true;
  above_ = view_.tenant_gpus(t) + view_.gpus(claim.slot) - view_.spec().tenant_limit[t];
  if (above_ <= 0) return true;
  return walk(claim, [&](const Claim& stop) {
    if (same_tenant(stop.slot, claim.slot)) list(stop, claim);
    return above_ <= 0;
  });
}

// Returns whether the limit holds without this stop. If so, the stop no longer counts.
bool RoomMaker::limit_spares(const Claim& claim, int32_t slot) {
  if (!same_tenant(slot, claim.slot)) return true;
  if (above_ + view_.gpus(slot) > 0) return false;
  above_ += view_.gpus(slot);
  return true;
}

// --- whole GPUs: adds up what would be free

bool RoomMaker::list_by_count(const Claim& claim) {
  RoomIndex* index = holders_.index();
  if (index != nullptr && index->answers(view_.gpus(claim.slot)) && stops_.empty()) {
    std::vector<Claim> stops;
    if (!index->stops_for(claim, view_.gpus(claim.slot), rule_.margin, stops)) return false;
    for (const Claim& stop : stops) list(stop, claim);
    return true;
  }
  RoomCount room(view_, rule_.of(claim.slot), view_.gpus(claim.slot));
  const std::vector<Claim> of_tenant = stops_;
  for (const Claim& stop : of_tenant) room.add(stop.slot);
  if (room.enough()) return true;
  const bool found = walk(claim, [&](const Claim& stop) {
    for (const Claim& other : of_tenant) {
      if (other.slot == stop.slot) return false;
    }
    list(stop, claim);
    room.add(stop.slot);
    return room.enough();
  });
  if (!found) return false;
  // Drops the stops on nodes that would still be too full, which are most.
  if (of_tenant.empty() && rule_.of(claim.slot) == Placement::kConsolidate) {
    std::erase_if(stops_, [&](const Claim& stop) { return !room.matters(stop.slot); });
  }
  return true;
}

// Drops each stop that neither pieces_ nor, if any GPUs will do, their number needs.
void RoomMaker::spare_by_count(const Claim& claim) {
  RoomCount room(view_, rule_.of(claim.slot), view_.gpus(claim.slot));
  for (const Claim& stop : stops_) room.add(stop.slot);
  for (size_t i = stops_.size(); i-- > 0;) {
    const int32_t slot = stops_[i].slot;
    if (!room.spares(slot, pieces_) || !limit_spares(claim, slot)) continue;
    room.remove(slot);
    stops_.erase(stops_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// --- shaped jobs and shared GPUs: by trial

// Returns whether the job fits: a shaped job of one task on one of these nodes, others anywhere.
bool RoomMaker::fits_now(int32_t slot, const std::vector<int32_t>& nodes) const {
  if (!view_.shaped(slot) || view_.num_tasks(slot) > 1) {
    return can_place(view_, rule_.of(slot), slot);
  }
  const Placer placer(view_);
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](int32_t node) { return placer.takes(slot, node); });
}

bool RoomMaker::list_by_trial(const Claim& claim) {
  const size_t mark = draft_.mark();
  stop_all();
  bool found = !stops_.empty() && can_place(view_, rule_.of(claim.slot), claim.slot);
  std::vector<int32_t> nodes;
  found = found || walk(claim, [&](const Claim& stop) {
            nodes.clear();
            for (int32_t p = view_.first_part(stop.slot); p != kNone; p = view_.next_part(p)) {
              nodes.push_back(view_.part_node(p));
            }
            list(stop, claim);
            draft_.preempt(stop.slot);
            return fits_now(claim.slot, nodes);
          });
  draft_.undo_to(mark);
  return found;
}

void RoomMaker::spare_by_trial(const Claim& claim) {
  const size_t mark = draft_.mark();
  const auto enough = [&] {
    stop_all();
    const bool fits =
        any_place_ ? can_place(view_, rule_.of(claim.slot), claim.slot)
                   : draft_.start(claim.slot, pieces_.data(), static_cast<int32_t>(pieces_.size()));
    draft_.undo_to(mark);
    return fits;
  };
  // Most victims have no GPUs on the nodes of the placement.
  const auto near = [&](int32_t slot) {
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      for (const Piece& piece : pieces_) {
        if (piece.node == view_.part_node(p)) return true;
      }
    }
    return false;
  };
  for (size_t i = stops_.size(); i-- > 0;) {
    const Claim stop = stops_[i];
    const int32_t above = above_;
    if (!limit_spares(claim, stop.slot)) continue;
    stops_.erase(stops_.begin() + static_cast<std::ptrdiff_t>(i));
    if ((!any_place_ && !near(stop.slot)) || enough()) continue;
    stops_.insert(stops_.begin() + static_cast<std::ptrdiff_t>(i), stop);
    above_ = above;
  }
}

}  // namespace yard
