// The moves which make room for a waiting job, against an exhaustive search.
#include "serving/explain/room.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "env/base/core/rng.h"

namespace yard::testing {
namespace {

NodeWithJobs room_node(const std::string& name, int32_t gpus, const std::vector<int32_t>& jobs) {
  NodeWithJobs out{name, gpus, {}};
  for (const int32_t held : jobs) {
    out.jobs.push_back({name + "-" + std::to_string(out.jobs.size()), held});
    out.free -= held;
  }
  return out;
}

// The fewest GPUs moved by trying each node for each job; -1: there is no way.
int32_t fewest_by_trial(const std::vector<NodeWithJobs>& nodes, int32_t gpus) {
  struct At {
    size_t node;
    int32_t gpus;
  };
  std::vector<At> jobs;
  std::vector<int32_t> sizes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    int32_t size = nodes[i].free;
    for (const PlacedJob& job : nodes[i].jobs) {
      size += job.gpus;
      jobs.push_back({i, job.gpus});
    }
    sizes.push_back(size);
  }
  int32_t best = -1;
  std::vector<int32_t> free = sizes;
  const auto place = [&](const auto& self, size_t job, int32_t moved) -> void {
    if (job == jobs.size()) {
      if (std::ranges::max(free) >= gpus && (best < 0 || moved < best)) best = moved;
      return;
    }
    for (size_t node = 0; node < nodes.size(); ++node) {
      if (free[node] < jobs[job].gpus) continue;
      free[node] -= jobs[job].gpus;
      self(self, job + 1, moved + (node == jobs[job].node ? 0 : jobs[job].gpus));
      free[node] += jobs[job].gpus;
    }
  };
  place(place, 0, 0);
  return best;
}

// Carries the moves out; fails if a node gets more than it has.
void expect_room(const std::vector<NodeWithJobs>& nodes, const RoomSearchResult& room,
                 int32_t gpus) {
  std::map<std::string, int32_t> free;
  for (const NodeWithJobs& node : nodes) free[node.name] = node.free;
  int32_t moved = 0;
  for (const JobRelocation& move : room.moves) {
    free[move.from] += move.gpus;
    free[move.to] -= move.gpus;
    moved += move.gpus;
    EXPECT_NE(move.from, move.to);
  }
  EXPECT_EQ(moved, room.gpus_moved);
  free[room.node] -= gpus;
  for (const auto& [name, left] : free) EXPECT_GE(left, 0) << name;
}

TEST(Room, OfTheIssue) {
  const std::vector<NodeWithJobs> nodes = {room_node("a", 8, {4, 2, 1}),
                                           room_node("b", 8, {4, 1, 1}), room_node("c", 8, {7})};
  const RoomSearchResult room = moves_that_make_room(nodes, 4);
  ASSERT_TRUE(room.found && room.proven);
  EXPECT_EQ(room.node, "b");
  EXPECT_EQ(room.gpus_moved, 2);
  ASSERT_EQ(room.moves.size(), 2u);
  expect_room(nodes, room, 4);
}

TEST(Room, NothingMovesIfItFits) {
  const RoomSearchResult room =
      moves_that_make_room({room_node("a", 8, {7}), room_node("b", 8, {4})}, 4);
  EXPECT_TRUE(room.found);
  EXPECT_EQ(room.node, "b");
  EXPECT_TRUE(room.moves.empty());
}

TEST(Room, MovesAlongAChain) {
  // The job of 3 has to leave, fits only where the 2 is, and that fits where 2 are free.
  std::vector<NodeWithJobs> nodes = {room_node("a", 8, {3, 4}), room_node("b", 8, {5, 2}),
                                     room_node("c", 8, {6})};
  nodes[0].jobs[1].movable = nodes[1].jobs[0].movable = nodes[2].jobs[0].movable = false;
  const RoomSearchResult room = moves_that_make_room(nodes, 4);
  ASSERT_TRUE(room.found && room.proven);
  EXPECT_EQ(room.gpus_moved, 5);
  expect_room(nodes, room, 4);
}

TEST(Room, SaysThatThereIsNone) {
  EXPECT_FALSE(moves_that_make_room({}, 1).found);
  const RoomSearchResult small =
      moves_that_make_room({room_node("a", 8, {7}), room_node("b", 8, {7})}, 3);
  EXPECT_FALSE(small.found);
  EXPECT_TRUE(small.proven);
  std::vector<NodeWithJobs> pinned = {room_node("a", 8, {2, 4}), room_node("b", 8, {6})};
  for (NodeWithJobs& node : pinned) {
    for (PlacedJob& job : node.jobs) job.movable = false;
  }
  EXPECT_FALSE(moves_that_make_room(pinned, 4).found);
}

TEST(Room, FewestGpusAsByTrial) {
  Rng rng(41);
  int found = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<NodeWithJobs> nodes;
    for (int n = 0; n < 3; ++n) {
      std::vector<int32_t> jobs;
      int32_t left = 8;
      while (left > 0 && jobs.size() < 3) {
        const auto gpus = static_cast<int32_t>(1 + rng.below(4));
        if (gpus > left) break;
        jobs.push_back(gpus);
        left -= gpus;
      }
      nodes.push_back(room_node(std::string(1, static_cast<char>('a' + n)), 8, jobs));
    }
    const auto gpus = static_cast<int32_t>(2 + rng.below(7));
    const RoomSearchResult room = moves_that_make_room(nodes, gpus);
    const int32_t fewest = fewest_by_trial(nodes, gpus);
    ASSERT_TRUE(room.proven);
    ASSERT_EQ(room.found ? room.gpus_moved : -1, fewest) << "trial " << trial;
    found += room.found && !room.moves.empty();
    if (room.found) expect_room(nodes, room, gpus);
  }
  EXPECT_GT(found, 50);
}

TEST(Room, LargeClustersEndInBoundedTime) {
  Rng rng(7);
  std::vector<NodeWithJobs> nodes;
  for (int n = 0; n < 1000; ++n) {
    nodes.push_back(
        room_node("n" + std::to_string(n), 8,
                  rng.below(2) == 0 ? std::vector<int32_t>{4, 3} : std::vector<int32_t>{5, 2}));
  }
  const RoomSearchResult room = moves_that_make_room(nodes, 8, 2'000'000);
  EXPECT_FALSE(room.found && !room.proven && room.moves.empty());
  if (room.found) expect_room(nodes, room, 8);
}

}  // namespace
}  // namespace yard::testing
