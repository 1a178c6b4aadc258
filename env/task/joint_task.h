// The task `joint`: one job after the other, in the order of an index, is asked which of its
// options it takes (env/sim/options.h: a place, room made by stopping or moving others) or whether
// it waits on; then those that run are asked whether they move (env/sim/joint.h). It is paid minus
// the jobs in the system, integrated over time: the sum is minus the total JCT.
//
// Observation: J = 32 options of the job that is asked x F = 12 features, C = 18 features of that
// job and of the cluster, and a mask of J + 1 actions (J: it waits, or stays). What the rule of
// joint.h would pick is marked, and every action gets a prior logit, less the less it is worth to
// the rule. A policy that adds nothing to the prior is the rule; what it adds is learned.
//
// The index is that of env/predict/survival_index.h: what was learned from jobs that ran.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "env/predict/survival_index.h"
#include "env/sim/joint.h"
#include "env/sim/work_view.h"
#include "env/task/observation.h"

namespace yard {

using JointIndex = SurvivalIndex<Level::kHistory, JointConfig, WorkView>;

struct JointTaskConfig {
  explicit JointTaskConfig(const JointIndex::Config& rule = {}) : joint(rule), index(rule) {}

  JointIndex::Config joint;  // with the index' own numbers
  JointIndex index;
  // The prior: logit lost per doubling of worth, and by all that the rule would not take.
  float prior_slope = 1;
  float prior_gap = 2;

  std::string text() const;  // of all of it: equal ones are equal configurations
};

struct JointTask {
  using Config = JointTaskConfig;
  static constexpr Level kLevel = Level::kHistory;
  static constexpr int kJobs = 32;  // rows: options
  static constexpr int kActions = kJobs + 1;
  static constexpr int kNothing = kJobs;
  static constexpr int kJobFeatures = 12;
  static constexpr int kClusterFeatures = 18;
  static constexpr TaskShape kShape{kJobs, kJobFeatures, kClusterFeatures};

  enum OptionFeature {
    kRate,       // log2 of its rate over the job's best
    kSeconds,    // log2 s that the job would still run there
    kTypeLog2,   // what its type is to jobs, see joint.h
    kHarm,       // to those beside it, per GPU of the job
    kLeftOver,   // GPUs that stay free beside it, in parts of a node
    kSpread,     // 1: over more nodes than needed
    kStop,       // 1: others stop for it
    kClear,      // 1: others move for it
    kGpusMoved,  // of these, per GPU of the job
    kWorth,      // to the rule, below the best option's
    kOverStay,   // worth over that of waiting or staying
    kSuggested,  // 1: the rule would take it
  };
  enum ClusterFeature {
    kLength,         // of the job that is asked: log8 of its seconds left over the mean
    kLeft,           // log2 s left at best
    kSize,           // log8 of its GPUs
    kGain,           // log2 of what its best type gives it, beside the others'
    kWaited,         // log2 s since it waits or runs
    kAttained,       // log2 s run so far
    kPreempted,      // log2 of 1 + how often it was stopped
    kRuns,           // 1: it runs, and is asked whether to move
    kBestOverStay,   // worth of its best option over that of waiting or staying
    kStaySuggested,  // 1: the rule would wait or stay
    kQueue,          // GPUs waited for over all that there are, at most 1
    kFree,           // share of GPUs free
    kWaiting,        // log2 of 1 + jobs waiting
    kLive,           // jobs in the system: what is paid for
    kMayPreempt,
    kMayMove,
    kMayHold,
    kMayChooseType,  // 1: the cluster allows it
  };

  static size_t memory_bytes(const View& view) {
    return Joint::bytes(view) + JointIndex::bytes(view);
  }

  // To be called once at every decision point, before all else. Returns whether there is a choice.
  static bool take_in(const View& view, const Config& config, std::byte* memory);
  // Lays the decision open again, as take_in() did.
  static void open(const View& view, const Config& config, std::byte* memory);
  static bool asks(const View& view, const Config& config, const std::byte* memory);
  static void observe(const View& view, const Config& config, std::byte* memory, Observation& out);

  // Requires: a legal action of the last observe().
  static void take(const View& view, const Config& config, std::byte* memory, int32_t action,
                   Draft& draft);
  static void close(const View& view, const Config& config, std::byte* memory, Draft& draft);

  // Rows are options of one job, of which there are more than the rows in rare cases only: then
  // those worth most to the rule stand there. (rows) their numbers among joint.options().
  static std::vector<int32_t> rows_of(const Joint& joint);
  static void observe(const View& view, const Config& config, const Joint& joint, Observation& out);
};

}  // namespace yard
