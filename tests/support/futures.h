// Two futures of one present: worlds that are equal up to a moment and different after it in all
// that nobody may know: how long jobs still run, who arrives, how many, of which shapes, users and
// tenants, what befalls GPUs and how long it lasts.
#pragma once

#include <vector>

#include "policies/policy.h"
#include "tests/support/random_speeds.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {

// Made-up tables for rated worlds: a few models on each type, slower over several nodes and beside
// others, all of it round numbers of no source.
struct MadeUpModels : MadeUpTables {
  // `other`: the last model is as fast on other types, and loses more by being spread.
  explicit MadeUpModels(size_t types, bool other = false);
  // (N) Jobs by name of their model: "m0" to "m2", else neutral.
  static std::vector<int32_t> classes_of(const std::vector<Job>& jobs);
};

struct FutureOptions {
  bool tenants = false;    // with limits, and a node that is not lent
  bool overload = false;   // CPUs promised twice: rates hang on neighbours
  bool models = false;     // rates from tables
  bool slowdowns = false;  // with them: neighbours on a node, exchanges that share its wires
  RandomWorldOptions world = {};
};

// One of many worlds with everything in it that a future can change.
struct ToldWorld {
  RandomWorld world;
  bool models = false;
  bool other_tables = false;  // MadeUpModels' other ones
};
ToldWorld told_world(Rng rng, const FutureOptions& options);

// A told world as worlds play it.
class ToldScene {
 public:
  explicit ToldScene(const ToldWorld& told);
  const Scene& scene() const { return scene_; }

 private:
  MadeUpModels models_;
  Scene scene_;
};

// What a scheduler said when it was asked.
struct Said {
  int64_t at_us;
  Plan plan;
  bool operator==(const Said&) const = default;
};

// What is settled at a moment: jobs that have ended, and how much work the others must hold at
// least, lest they had ended as well.
struct Settled {
  std::vector<char> ended;       // (N)
  std::vector<double> least_us;  // (N)
};
// As `policy` has played it.
Settled settled_by(const Scene& scene, const Policy& policy, int64_t until_us);
// Whoever plays it: a job may have ended if it can have. Requires: no rate above `most`.
Settled settled_by_anybody(const std::vector<Job>& jobs, int64_t until_us, double most);

// `now` up to `until_us`, and different after it. `keep_count`: as many jobs as before.
ToldWorld other_future(const ToldWorld& now, const Settled& settled, int64_t until_us, Rng rng,
                       bool keep_count = false);

// A course up to a moment after its beginning, and another future of it.
struct PartedCourse {
  ToldWorld now, then;
};
// Two of them, of one length, that part at one moment, whoever plays them.
std::vector<PartedCourse> parted_courses(Rng rng, const FutureOptions& options, int64_t& until_us);

}  // namespace yard::testing
