#include "policies/order.h"

#include <limits>

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

  // Nobody is stopped for a job that then finds no place: it is passed over, with all that ask for
  // the same, and all is tried again.
  void run() {
    std::vector<char> passed(static_cast<size_t>(view_.num_classes()), 0);
    const size_t begin = draft_.mark();
    for (choose(passed); !give_out(passed); choose(passed)) {
      draft_.undo_to(begin);
      for (const Claim& claim : winners_) push(claim.slot, claim.key);
    }
    // A job with nothing to save waits again at once, and no news of it will come.
    for (const Claim& claim : held_) {
      if (view_.phase(claim.slot) != Phase::kWaiting) continue;
      push(claim.slot, {claim.waiting_value, claim.key.serial});
    }
    fill();
  }

 private:
  void push(int32_t slot, Key key) { ranked_.push(view_.size_class(slot), slot, key); }

  // Walks holders and waiting jobs in one order and gives out GPUs by number.
  void choose(std::span<const char> passed) {
    std::vector<char> skip(passed.begin(), passed.end());  // also those that ask for too many
    int64_t left_milli = int64_t{kWholeGpu} * view_.usable_gpus();
    const SpecColumns& spec = view_.spec();
    std::vector<int32_t> room(spec.tenant_limit, spec.tenant_limit + spec.num_tenants);
    winners_.clear();
    losers_.clear();
    size_t i = 0;
    for (;;) {
      const int32_t k =
          ranked_.first_class(view_, static_cast<int32_t>(left_milli / kWholeGpu), skip);
      const int32_t slot = k == kNone ? kNone : ranked_.top(k);
      if (i < held_.size() && (k == kNone || held_[i].key < ranked_.key(slot))) {
        const Claim& claim = held_[i++];
        if (view_.gpu_milli(claim.slot) > left_milli || !take_room(room, claim.slot)) {
          losers_.push_back(claim);
        } else {
          left_milli -= view_.gpu_milli(claim.slot);
        }
        continue;
      }
      if (k == kNone) return;
      if (view_.gpu_milli(slot) > left_milli || !take_room(room, slot)) {
        skip[static_cast<size_t>(k)] = 1;
        continue;
      }
      winners_.push_back({ranked_.key(slot), slot});
      ranked_.pop(k);
      left_milli -= view_.gpu_milli(slot);
    }
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

  // Stops the losers and starts the winners. Returns whether all of these found a place; marks the
  // classes of those that did not.
  bool give_out(std::vector<char>& passed) {
    for (const Claim& claim : losers_) draft_.preempt(claim.slot);
    bool all = true;
    for (const Claim& claim : winners_) {
      if (start(claim.slot) || make_room(claim)) continue;
      passed[static_cast<size_t>(view_.size_class(claim.slot))] = 1;
      all = false;
    }
    return all;
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
    list_by_node(later);
    int32_t best = kNone, best_cost = INT32_MAX;
    for (int32_t node = 0; node < view_.spec().num_nodes; ++node) {
      if (view_.spec().node_gpus[node] < want) continue;
      const size_t mark = draft_.mark();
      const int32_t cost = clear(node, want, best_cost);
      if (view_.node_free(node) >= want && cost < best_cost) {
        best = node;
        best_cost = cost;
      }
      draft_.undo_to(mark);
    }
    if (best == kNone) return false;
    clear(best, want, INT32_MAX);
    const Piece piece{best, want};
    return draft_.start(claim.slot, &piece, 1);
  }

  // Lists, for each node, the jobs of `later` with GPUs there, the last in order first.
  void list_by_node(const std::vector<Claim>& later) {
    const auto nodes = static_cast<size_t>(view_.spec().num_nodes);
    first_on_.assign(nodes + 2, 0);
    const auto for_parts = [&](auto does) {
      for (size_t i = later.size(); i-- > 0;) {
        const int32_t slot = later[i].slot;
        for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
          if (view_.part_mask(p) != 0) does(static_cast<size_t>(view_.part_node(p)), slot);
        }
      }
    };
    for_parts([&](size_t node, int32_t) { ++first_on_[node + 2]; });
    for (size_t m = 2; m < first_on_.size(); ++m) first_on_[m] += first_on_[m - 1];
    on_.resize(static_cast<size_t>(first_on_.back()));
    for_parts(
        [&](size_t node, int32_t slot) { on_[static_cast<size_t>(first_on_[node + 1]++)] = slot; });
  }

  // Stops those whose stop frees GPUs of the node, the last in order first, until `want` are free.
  // Returns how many GPUs they had asked for; gives up once these are `too_many`. (A GPU that
  // drains is not freed, nor one that others have a share of.) Requires: list_by_node().
  int32_t clear(int32_t node, int32_t want, int32_t too_many) {
    int32_t cost = 0, before = kNone;
    const auto m = static_cast<size_t>(node);
    for (int32_t i = first_on_[m]; i < first_on_[m + 1] && view_.node_free(node) < want; ++i) {
      const int32_t slot = on_[static_cast<size_t>(i)];
      if (cost >= too_many) return cost;
      if (slot == before) continue;  // several parts on one node
      before = slot;
      const int32_t free = view_.node_free(node);
      const size_t mark = draft_.mark();
      draft_.preempt(slot);
      if (view_.node_free(node) == free) {
        draft_.undo_to(mark);
      } else {
        cost += view_.gpus(slot);
      }
    }
    return cost;
  }

  // GPUs that no winner could use go to the next jobs in order that fit where they lie.
  void fill() { start_in_order(view_, ranked_, rule_.placement, draft_); }

  const View& view_;
  Ranked& ranked_;
  std::span<Claim> held_;
  const PreemptionRule& rule_;
  Draft& draft_;
  std::vector<Claim> winners_, losers_;
  std::vector<int32_t> first_on_, on_;  // (M + 2), slots by node: list_by_node()
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
