#include "policies/order.h"

#include <limits>
#include <vector>

#include "env/base/error.h"
#include "env/base/text.h"

namespace yard {

Placement parse_placement(const std::string& name) {
  const auto names = placement_names();
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) throw InputError("placement", "one of: " + join(names), "'" + name + "'");
  return static_cast<Placement>(it - names.begin());
}

std::vector<std::string> placement_names() {
  return {std::begin(kPlacementNames), std::end(kPlacementNames)};
}

void start_in_order(const View& view, Ranked& ranked, Placement placement, Draft& draft) {
  Piece* pieces = draft.scratch();
  std::vector<char> blocked;  // by size class: fragmentation leaves no place for it now
  for (;;) {
    const int32_t k = ranked.first_class(view, view.free_gpus(), blocked);
    if (k == kNone) return;
    const int32_t slot = ranked.top(k);
    const int32_t n = place(view, placement, slot, pieces);
    if (n > 0) {
      draft.start(slot, pieces, n);
      ranked.pop(k);
    } else {
      blocked.resize(static_cast<size_t>(view.num_classes()), 0);
      blocked[static_cast<size_t>(k)] = 1;
    }
  }
}

namespace {

class FirstInOrder {
 public:
  FirstInOrder(const View& view, Ranked& ranked, std::span<Claim> held, const PreemptionRule& rule,
               Draft& draft)
      : view_(view), ranked_(ranked), held_(held), rule_(rule), draft_(draft) {}

  void run() {
    choose();
    for (const Claim& claim : losers_) stop(claim);
    for (const Claim& claim : winners_) {
      if (!start(claim.slot) && !make_room(claim)) refused_.push_back(claim);
    }
    for (const Claim& c : refused_) ranked_.push(view_.size_class(c.slot), c.slot, c.key);
    fill();
  }

 private:
  // Walks holders and waiting jobs in one order and gives out GPUs by number.
  void choose() {
    int32_t left = view_.usable_gpus();
    const SpecColumns& spec = view_.spec();
    std::vector<int32_t> room(spec.tenant_limit, spec.tenant_limit + spec.num_tenants);
    size_t i = 0;
    while (left > 0) {
      const int32_t k = ranked_.first_class(view_, left);
      const bool none_waits = k == kNone;
      if (i == held_.size() && none_waits) break;
      const int32_t slot = none_waits ? kNone : ranked_.top(k);
      if (i < held_.size() && (none_waits || held_[i].key < ranked_.key(slot))) {
        const Claim& claim = held_[i++];
        if (view_.gpus(claim.slot) > left || !take_room(room, claim.slot)) {
          losers_.push_back(claim);
        } else {
          left -= view_.gpus(claim.slot);
        }
        continue;
      }
      const Claim claim{ranked_.key(slot), slot};
      ranked_.pop(k);
      if (!take_room(room, slot)) {
        refused_.push_back(claim);
        continue;
      }
      winners_.push_back(claim);
      left -= view_.gpus(slot);
    }
    for (; i < held_.size(); ++i) losers_.push_back(held_[i]);
  }

  // Takes a job's GPUs from what its tenant may hold; false where that is not enough.
  bool take_room(std::vector<int32_t>& room, int32_t slot) const {
    const int32_t t = view_.tenant(slot);
    if (t == kNone) return true;
    int32_t& left = room[static_cast<size_t>(t)];
    if (view_.gpus(slot) > left) return false;
    left -= view_.gpus(slot);
    return true;
  }

  // A job with nothing to save waits again at once, and no news of it will come.
  void stop(const Claim& claim) {
    draft_.preempt(claim.slot);
    if (view_.phase(claim.slot) != Phase::kWaiting) return;
    ranked_.push(view_.size_class(claim.slot), claim.slot, {claim.waiting_value, claim.key.serial});
  }

  bool start(int32_t slot) {
    Piece* pieces = draft_.scratch();
    const int32_t n = place(view_, rule_.placement, slot, pieces);
    return n > 0 && draft_.start(slot, pieces, n);
  }

  // Clears the node on which the fewest GPUs of later jobs stand in the way. Jobs of several nodes
  // are not helped: they would need several nodes cleared at once.
  bool make_room(const Claim& claim) {
    const int32_t want = view_.gpus(claim.slot);
    if (want > view_.spec().max_node_gpus || view_.shaped(claim.slot)) return false;
    std::vector<Claim> later;
    for (const Claim& other : held_) {
      const Phase phase = view_.phase(other.slot);
      const bool holds = phase == Phase::kRunning || phase == Phase::kStarting;
      if (holds && view_.preemptible(other.slot) && claim.key < other.key) later.push_back(other);
    }
    int32_t best = kNone, best_cost = INT32_MAX;
    for (int32_t node = 0; node < view_.spec().num_nodes; ++node) {
      if (view_.spec().node_gpus[node] < want) continue;
      const int32_t cost = clear(later, node, want, false);
      if (cost < best_cost) {
        best = node;
        best_cost = cost;
      }
    }
    if (best == kNone) return false;
    clear(later, best, want, true);
    const Piece piece{best, want};
    return draft_.start(claim.slot, &piece, 1);
  }

  // Returns how many GPUs have to be taken from others, the last in order first, until `want` are
  // free on the node; INT32_MAX if that cannot be.
  int32_t clear(const std::vector<Claim>& later, int32_t node, int32_t want, bool really) {
    int32_t free = view_.node_free(node), cost = 0;
    for (size_t i = later.size(); i-- > 0 && free < want;) {
      const int32_t slot = later[i].slot;
      int32_t here = 0;
      for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
        if (view_.part_node(p) == node) here += count_bits(view_.part_mask(p));
      }
      if (here == 0) continue;
      free += here;
      cost += view_.gpus(slot);
      if (really) stop(later[i]);
    }
    return free >= want ? cost : INT32_MAX;
  }

  // GPUs that no winner could use go to the next jobs in order that fit where they lie.
  void fill() { start_in_order(view_, ranked_, rule_.placement, draft_); }

  const View& view_;
  Ranked& ranked_;
  std::span<Claim> held_;
  const PreemptionRule& rule_;
  Draft& draft_;
  std::vector<Claim> winners_, losers_, refused_;
};

}  // namespace

void run_first_in_order(const View& view, Ranked& ranked, std::span<Claim> held,
                        const PreemptionRule& rule, Draft& draft) {
  for (Claim& claim : held) {
    claim.key.value /= 1 + rule.margin;
    // Who cannot be stopped keeps its GPUs, wherever it stands.
    if (!view.preemptible(claim.slot)) claim.key.value = -std::numeric_limits<double>::infinity();
  }
  std::sort(held.begin(), held.end(), [](const Claim& a, const Claim& b) { return a.key < b.key; });
  FirstInOrder(view, ranked, held, rule, draft).run();
}

}  // namespace yard
