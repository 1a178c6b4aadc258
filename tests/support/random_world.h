// Small worlds with every feature on: mixed nodes, tasks with needs of their own, jobs that wait
// for others, GPUs that fail, drain and are reclaimed, all of it close together.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "env/base/core/rng.h"
#include "env/cluster/spec.h"
#include "env/sim/state/columns.h"
#include "env/sim/state/tables.h"
#include "env/sim/state/truth.h"
#include "env/trace/core/job.h"
#include "tests/support/random_speeds.h"
#include "tests/support/scene.h"

namespace yard::testing {

struct RandomWorld {
  ClusterSpec cluster;
  Costs costs;
  std::vector<Job> jobs;
  std::vector<Fault> faults;
  PairConflicts bars;  // empty in half of the worlds
  std::optional<RandomSpeeds> speeds = {};
};

struct RandomWorldOptions {
  int32_t jobs = 60;
  bool shapes = true;  // tasks with needs of their own, elastic groups among them
  bool after = true;
  bool faults = true;
  bool rates = false;    // models, a network that can be crowded, servers that promise too much
  bool tenants = false;  // limits, and nodes of one's own
  bool equal = false;    // all nodes are, and gangs lie over several of them
};

// Half of the worlds count in steps of 10 s, so that ends, saves, faults and arrivals meet.
// Requires nothing of `rng`: the same one makes the same world.
RandomWorld random_world(Rng rng, const RandomWorldOptions& options = {});

// The world as the simulator plays it; `world` outlives it.
std::unique_ptr<Scene> scene_of(const RandomWorld& world);

// A group whose tasks need so much each.
RoleGroup group_of(int32_t count, int32_t gpus, int32_t gpu_milli, int32_t cpu_milli,
                   int64_t mem_mib);

}  // namespace yard::testing
