// Small worlds for tests: a cluster, jobs and costs as one value, and a runner which steps by event
// and checks every state and every decision for invariants.
//
//   const Scene scene("2x4", jobs_of({{0, 4, 100}, {0, 1, 50}}), no_costs());
//   SceneRunner runner(scene, *policy);
//   while (runner.step()) {}
//   EXPECT_EQ(runner.jobs()[1].end_us, 50'000'000);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/base/core/rng.h"
#include "env/cluster/spec.h"
#include "env/sim/placement/placement_rules.h"
#include "env/sim/rules/world.h"
#include "env/sim/rulesets/rule_set.h"
#include "env/sim/state/workload.h"
#include "policies/policy.h"
#include "tests/support/step_checker.h"

namespace yard::testing {

constexpr int64_t kSecond = 1'000'000;

PreemptionCosts no_costs();

struct JobLine {
  double submit_s;
  int32_t gpus;
  double run_s;
};
// Returns jobs named a, b, c, ... in the given order. Requires: submissions do not decrease.
std::vector<Job> jobs_of(const std::vector<JobLine>& lines);

struct RandomJobs {
  int32_t count = 40;
  std::vector<int32_t> sizes = {1, 1, 2, 4, 8};
  double mean_gap_s = 100;
  double mean_run_s = 600;
  int32_t users = 5;
  double simultaneous = 0.2;  // share of jobs submitted at the same time as the previous one
};
std::vector<Job> random_jobs(Rng rng, const RandomJobs& options);

// Returns the policy described by a text: "las", or "las placement=best-fit".
std::unique_ptr<Policy> make_policy(const std::string& text);

// The constants of a simulated world. Worlds hold pointers into it: it must not move.
class Scene {
 public:
  Scene(const std::string& cluster, const std::vector<Job>& jobs,
        const PreemptionCosts& costs = {});
  Scene(const ClusterSpec& cluster, const std::vector<Job>& jobs, const PreemptionCosts& costs = {},
        const GpuSharingConflicts& pair_conflicts = {});
  Scene(const Scene&) = delete;

  // Both must be called before a world uses the scene.
  void set_faults(std::vector<Fault> faults);
  void allow(const AllowedActions& allows) { fixed_.allows = allows; }
  // Likewise. Requires: the data which `speeds` points to outlives the scene.
  void set_speeds(const SpeedColumns& speeds, const std::vector<int32_t>& classes);

  const SimModel& fixed() const { return fixed_; }
  const Workload& workload() const { return workload_; }
  const Trace& trace() const { return trace_; }
  const ClusterSpec& cluster() const { return cluster_; }
  const std::vector<Job>& jobs() const { return trace_.jobs; }
  Truth truth() const { return workload_.truth(); }
  int32_t size() const { return workload_.size(); }

 private:
  Trace trace_;
  ClusterSpec cluster_;
  SpecTable spec_;
  Workload workload_;
  SimModel fixed_;
};

// Plays a scene under the `default` rule set. The first broken invariant is reported as a test
// failure and ends the play.
class SceneRunner {
 public:
  // Requires: both outlive the runner.
  SceneRunner(const Scene& scene, const Policy& policy);

  // Plays one event and one decision. Returns false if all jobs have ended or a check failed.
  bool step() { return advance() && decide(); }
  bool advance();
  bool decide();
  void play() {
    while (step()) {
    }
  }

  World& world() { return world_; }
  const SimState& state() const { return world_.state(); }
  const View& view() const { return view_; }
  const Plan& plan() const { return draft_.plan(); }  // of the last decision
  Memory& memory() { return memory_; }
  const std::vector<JobOutcome>& jobs() const { return jobs_; }
  bool failed() const { return !trouble_.empty(); }
  int64_t events() const { return events_; }

  // Copies the state and the policy's memory of another runner of the same scene and policy.
  void copy_from(const SceneRunner& other);

 private:
  bool broken(const std::string& what);
  bool holds();

  const Scene& scene_;
  const Policy& policy_;
  World world_, before_;  // before_: the state before the last decision
  View view_;
  Draft draft_;
  Memory memory_;
  std::vector<JobOutcome> jobs_;
  std::vector<double> done_us_;  // (N) work done, as of the last check
  std::vector<int32_t> failed_;  // (N) failures, as of the last check
  StepChecker checker_;
  int64_t events_ = 0;
  std::string trouble_;
};

// Returns the total JCT in microseconds. Requires: all jobs have ended.
int64_t total_jct_us(const Scene& scene, const std::vector<JobOutcome>& jobs);

// Turns a registered name into a valid GoogleTest name: hyphens become underscores.
inline std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace yard::testing
