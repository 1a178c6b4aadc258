// Which running jobs to move to other nodes, so that a waiting job finds room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace yard {

// A job that holds GPUs of one node.
struct PlacedJob {
  std::string id;
  int32_t gpus = 0;
  bool movable = true;  // false for jobs on several nodes and for pinned ones
};

struct NodeWithJobs {
  std::string name;
  int32_t free = 0;  // GPUs that no job holds
  std::vector<PlacedJob> jobs = {};
};

struct JobRelocation {
  std::string job;
  int32_t gpus = 0;
  std::string from, to;
};

struct RoomSearchResult {
  bool found = false;
  // false: the search ended at its bound, and fewer GPUs might do, or there may be room after all.
  bool proven = true;
  std::string node;                       // on which the waiting job then fits
  std::vector<JobRelocation> moves = {};  // all at once; empty: it fits now
  int32_t gpus_moved = 0;
};

// Returns the moves with the fewest GPUs moved, and among these the fewest jobs, after which `gpus`
// GPUs are free on one node. A job moves as a whole, to one node. The search ends after it has
// looked at nodes `max_looks` times. Requires: gpus > 0.
RoomSearchResult moves_that_make_room(const std::vector<NodeWithJobs>& nodes, int32_t gpus,
                                      int64_t max_looks = 20'000'000);

}  // namespace yard
