// A second implementation of the default rules and heuristics: slow and obvious. Lists are walked
// at every event, and nothing computable is stored. Shares no code with the simulator. Compared
// with it in tests/policies/world_reference_test.cc.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "env/cluster/spec.h"
#include "env/trace/core/job.h"
#include "tests/reference/cluster_reference.h"
#include "tests/reference/speed_reference.h"

namespace yard::reference {

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

// A fault of GPUs of one node. Faults at one moment are ordered by node, GPUs, kind and end.
struct Outage {
  enum Kind { kFail, kReclaim, kDrain };
  int64_t at_us = 0;
  int64_t until_us = kForever;
  int node = 0;
  uint64_t gpus = 0;  // bit mask
  Kind kind = kFail;
  int64_t notice_us = 0;  // of a reclaim: until jobs are gone
};

struct Charges {
  int64_t save_us = 0;
  int64_t restore_us = 0;  // up to `small_gpus`
  int64_t restore_large_us = 0;
  int small_gpus = 0;
  int64_t checkpoint_us = kForever;  // of running time
  double scale = 1;                  // of the costs that jobs state
};

struct SlowWorld {
  ClusterSpec cluster;
  std::vector<Job> jobs;  // by submission
  std::vector<Outage> outages;
  Charges charges;
  std::vector<int> kinds = {};  // by job; -1 or empty: shares with all
  std::vector<KindConflict> pair_conflicts = {};
  std::optional<SpeedBook> speeds = {};
};

struct JobEnd {
  int64_t start_us = -1;
  int64_t end_us = -1;  // -1: never
  int preemptions = 0;
  int starts = 0;
  int failures = 0;
};

struct WorldEnd {
  std::vector<JobEnd> jobs;
  int64_t end_us = 0;        // -1: jobs wait forever
  int64_t job_time_us = 0;   // of jobs in the system
  int64_t held_time_us = 0;  // of GPUs held in whole or part
  int64_t down_time_us = 0;  // of GPUs down and not held
  int64_t lost_time_us = 0;  // of GPUs, on work lost to failures
  double moved_bytes = 0;    // between nodes
};

// Policies: fifo, greedy, sjf, srtf, srsf, las.
// Placements: first-fit, best-fit, consolidate, elastic.
// Requires: every job fits the empty cluster.
WorldEnd play_world(const SlowWorld& world, const std::string& policy,
                    const std::string& placement);

}  // namespace yard::reference
