#include "serving/explain/room.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

namespace yard {
namespace {

// Depth-first search with a rising limit on the GPUs moved. The waiting job is put on a node, whose
// free GPUs may become negative; from a node with a negative number some job has to go. As each
// move is forced by such a node, no cheapest set of moves is missed.
class RoomSearch {
 public:
  RoomSearch(const std::vector<NodeWithJobs>& nodes, int64_t max_looks)
      : nodes_(nodes), looks_left_(max_looks) {
    for (const NodeWithJobs& node : nodes) {
      Place& place = places_.emplace_back(Place{node.free, {}});
      for (size_t i = 0; i < node.jobs.size(); ++i) {
        if (node.jobs[i].movable && node.jobs[i].gpus > 0) place.jobs.push_back(i);
      }
      // Large jobs first: they make room with fewer moves.
      std::ranges::stable_sort(
          place.jobs, [&](size_t a, size_t b) { return node.jobs[a].gpus > node.jobs[b].gpus; });
    }
  }

  // Searches at most `max_moves` moves of `limit` GPUs together at most.
  bool find(size_t target, int32_t gpus, int32_t limit, size_t max_moves) {
    places_[target].free -= gpus;
    moves_.clear();
    max_moves_ = max_moves;
    const bool found = search(limit);
    places_[target].free += gpus;
    return found;
  }

  bool exhausted() const { return looks_left_ <= 0; }

  std::vector<JobRelocation> moves() const {
    std::vector<JobRelocation> out;
    for (const auto& [from, job, to] : moves_) {
      const PlacedJob& moved = nodes_[from].jobs[job];
      out.push_back({moved.id, moved.gpus, nodes_[from].name, nodes_[to].name});
    }
    return out;
  }

 private:
  struct Place {
    int32_t free;
    std::vector<size_t> jobs;  // those that may still leave, by falling size
  };

  bool search(int32_t limit) {
    size_t from = places_.size();
    int32_t lacking = 0;
    looks_left_ -= static_cast<int64_t>(places_.size());
    for (size_t i = 0; i < places_.size(); ++i) {
      lacking += std::max(0, -places_[i].free);
      if (places_[i].free < 0 && from == places_.size()) from = i;
    }
    if (lacking == 0) return true;
    if (lacking > limit || moves_.size() == max_moves_ || exhausted()) return false;
    const std::vector<size_t> jobs = places_[from].jobs;
    int32_t tried = 0;
    for (size_t j = 0; j < jobs.size(); ++j) {
      const int32_t gpus = nodes_[from].jobs[jobs[j]].gpus;
      // Jobs of one size are as good as each other.
      if (gpus == tried || gpus > limit) continue;
      tried = gpus;
      places_[from].jobs.erase(places_[from].jobs.begin() + static_cast<std::ptrdiff_t>(j));
      places_[from].free += gpus;
      const bool found = move_to_some(from, jobs[j], gpus, limit - gpus);
      places_[from].free -= gpus;
      places_[from].jobs = jobs;
      if (found) return true;
    }
    return false;
  }

  bool move_to_some(size_t from, size_t job, int32_t gpus, int32_t limit) {
    std::vector<size_t> order;
    for (size_t to = 0; to < places_.size(); ++to) {
      if (to != from && gpus - places_[to].free <= limit) order.push_back(to);
    }
    // The tightest of the nodes with room first, then those that would have to give up least.
    std::ranges::stable_sort(order, {}, [&](size_t to) {
      const int32_t left = places_[to].free - gpus;
      return std::pair(left < 0, left < 0 ? -left : left);
    });
    // Nodes with as many free GPUs and jobs of the same sizes are as good as each other.
    std::set<std::vector<int32_t>> tried;
    for (const size_t to : order) {
      std::vector<int32_t> kind = {places_[to].free};
      for (const size_t other : places_[to].jobs) kind.push_back(nodes_[to].jobs[other].gpus);
      if (!tried.insert(std::move(kind)).second) continue;
      places_[to].free -= gpus;
      moves_.emplace_back(from, job, to);
      const bool found = search(limit);
      places_[to].free += gpus;
      if (found) return true;
      moves_.pop_back();
    }
    return false;
  }

  const std::vector<NodeWithJobs>& nodes_;
  int64_t looks_left_;
  size_t max_moves_ = 0;
  std::vector<Place> places_;
  std::vector<std::tuple<size_t, size_t, size_t>> moves_;  // node, job, new node
};

}  // namespace

RoomSearchResult moves_that_make_room(const std::vector<NodeWithJobs>& nodes, int32_t gpus,
                                      int64_t max_looks) {
  RoomSearchResult out;
  int64_t free = 0;
  int32_t movable = 0;
  for (const NodeWithJobs& node : nodes) {
    free += std::max(node.free, 0);
    for (const PlacedJob& job : node.jobs) movable += job.movable ? job.gpus : 0;
  }
  if (free < gpus) return out;
  // Nodes that lack least are tried first.
  std::vector<size_t> targets;
  for (size_t i = 0; i < nodes.size(); ++i) {
    int32_t most = nodes[i].free;
    for (const PlacedJob& job : nodes[i].jobs) most += job.movable ? job.gpus : 0;
    if (most >= gpus) targets.push_back(i);
  }
  std::ranges::stable_sort(targets, std::greater{}, [&](size_t i) { return nodes[i].free; });
  RoomSearch search(nodes, max_looks);
  for (int32_t limit = 0; limit <= movable && !targets.empty(); ++limit) {
    size_t max_moves = static_cast<size_t>(limit);
    for (const size_t target : targets) {
      // Then with fewer jobs, until there are no fewer.
      while (search.find(target, gpus, limit, max_moves)) {
        out.found = true;
        out.node = nodes[target].name;
        out.moves = search.moves();
        out.gpus_moved = limit;
        if (out.moves.empty()) return out;
        max_moves = out.moves.size() - 1;
      }
    }
    out.proven = !search.exhausted();
    if (out.found || !out.proven) break;
  }
  return out;
}

}  // namespace yard
