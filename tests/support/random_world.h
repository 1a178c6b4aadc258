// Small worlds with every feature on: mixed nodes, tasks with separate requests, dependent jobs,
// GPUs which fail, drain and are reclaimed, all within a short time.
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
  PreemptionCosts costs;
  std::vector<Job> jobs;
  std::vector<Fault> faults;
  GpuSharingConflicts pair_conflicts;  // empty in half of the worlds
  std::optional<RandomSpeeds> speeds = {};
};

struct RandomWorldOptions {
  int32_t jobs = 60;
  bool shapes = true;  // role groups with different requests, some elastic
  bool after = true;
  bool faults = true;
  bool rates = false;    // models, links which can be congested, overcommitted CPUs
  bool tenants = false;  // limits, and nodes owned by tenants
  bool equal = false;    // all nodes are equal, and gangs span several
};

// Returns a random world. The same `rng` gives the same world. In half of the worlds times are
// multiples of 10 s, so that ends, saves, faults and arrivals coincide.
RandomWorld random_world(Rng rng, const RandomWorldOptions& options = {});

// Returns the world as a scene. Requires: `world` outlives it.
std::unique_ptr<Scene> scene_of(const RandomWorld& world);

// Returns a role group of `count` tasks, each with this request.
RoleGroup group_of(int32_t count, int32_t gpus, int32_t gpu_milli, int32_t cpu_milli,
                   int64_t mem_mib);

}  // namespace yard::testing
