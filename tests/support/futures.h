// Pairs of worlds which are equal up to a moment and differ afterwards in all that a policy must
// not see: remaining run times, later arrivals (number, shapes, users, tenants), and faults and
// their repair times.
#pragma once

#include <vector>

#include "policies/policy.h"
#include "tests/support/random_speeds.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {

// Invented speed tables for rated worlds: a few models on each type, slower across nodes and next
// to co-located jobs. The numbers are round and have no source.
struct InventedModels : InventedTables {
  // `other`: the last model is as fast on other types, and loses more when it is spread.
  explicit InventedModels(size_t types, bool other = false);
  // Returns the class of each job by its model's name: "m0" to "m2", else neutral. Dims: (N).
  static std::vector<int32_t> classes_of(const std::vector<Job>& jobs);
};

struct FutureOptions {
  bool tenants = false;    // with limits, and a node which is not lent
  bool overload = false;   // CPUs are overcommitted: rates depend on co-located jobs
  bool models = false;     // rates from tables
  bool slowdowns = false;  // requires models: slowdowns by neighbours and shared exchange
  RandomWorldOptions world = {};
};

// A random world with every feature which another future can change.
struct ForkableWorld {
  RandomWorld world;
  bool models = false;
  bool other_tables = false;  // InventedModels with `other`
};
ForkableWorld forkable_world(Rng rng, const FutureOptions& options);

// A ForkableWorld as a scene for the simulator.
class ForkableScene {
 public:
  explicit ForkableScene(const ForkableWorld& forkable);
  const Scene& scene() const { return scene_; }

 private:
  InventedModels models_;
  Scene scene_;
};

// One decision of a policy and its time.
struct TimedPlan {
  int64_t at_us;
  Plan plan;
  bool operator==(const TimedPlan&) const = default;
};

// What is fixed at a moment: which jobs have ended, and the work which a job must exceed not to
// have ended.
struct Settled {
  std::vector<char> ended;          // (N)
  std::vector<double> min_work_us;  // (N) microseconds of work
};
// Returns what is fixed when `policy` plays the scene.
Settled settled_by(const Scene& scene, const Policy& policy, int64_t until_us);
// As for any policy: a job counts as ended if it can have. Requires: no rate exceeds `max_rate`.
Settled settled_under_any_policy(const std::vector<Job>& jobs, int64_t until_us, double max_rate);

// Returns `now` with another future after `until_us`, with as many jobs if `keep_count`.
ForkableWorld other_future(const ForkableWorld& now, const Settled& settled, int64_t until_us,
                           Rng rng, bool keep_count = false);

// A world, and another with the same past and a different future.
struct ForkedWorld {
  ForkableWorld now, then;
};
// Returns two pairs with equal numbers of jobs. Both split at `until_us`, under every policy.
std::vector<ForkedWorld> forked_worlds(Rng rng, const FutureOptions& options, int64_t& until_us);

}  // namespace yard::testing
