// The task `joint`: waiting jobs, in the order of an index, each choose one of their options
// (env/sim/placement/options.h: a placement, possibly with preemptions or moves) or keep waiting.
// Then running jobs may move (env/scheduling/joint.h). The reward is minus the jobs in the system,
// integrated over time; it sums to minus the total JCT.
//
// Observation: J = 32 options of the current job x F = 12 features, C = 18 features of that job and
// of the cluster, and a mask of J + 1 actions (J: wait or stay). The option that the rule of
// joint.h would pick is marked. Prior logits fall with an action's score under the rule; an
// untrained network reproduces the rule.
//
// The index is that of env/predict/survival_index.h, learned from the jobs' run times.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "env/predict/survival_index.h"
#include "env/scheduling/joint.h"
#include "env/sim/view/work_view.h"
#include "env/task/observation.h"

namespace yard {

using JointIndex = SurvivalIndex<Level::kHistory, JointConfig, WorkView>;

struct JointTaskConfig {
  explicit JointTaskConfig(const JointIndex::Config& rule = {}) : joint(rule), index(rule) {}

  JointIndex::Config joint;  // with the settings of the index
  JointIndex index;
  // The prior: logit lost per doubling of the score, and by actions that the rule would not pick.
  float prior_slope = 1;
  float prior_gap = 2;

  std::string text() const;  // of all settings: equal texts are equal configurations
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
    kRate,              // log2 of its throughput over the job's best
    kSeconds,           // log2 s that the job would still run there
    kTypeLog2,          // what its type gives jobs on average, see joint.h
    kInterferenceCost,  // interference cost per GPU of the job
    kLeftOver,          // GPUs left free on its nodes, in nodes
    kSpread,            // 1: over more nodes than needed
    kPreempt,           // 1: preempts other jobs
    kMoveOthers,        // 1: moves other jobs
    kGpusMoved,         // GPUs of jobs stopped or moved, per GPU of the job
    kScore,             // score under the rule, minus the best option's
    kScoreOverWait,     // score minus that of waiting or staying
    kExpertAction,      // 1: the rule would pick it
  };
  enum ClusterFeature {
    kLength,             // log8 of the job's seconds left over the mean
    kLeft,               // log2 s left at the best throughput
    kSize,               // log8 of its GPUs
    kGain,               // log2 of its gain from the best type, relative to other jobs
    kWaited,             // log2 s since it started to wait or run
    kAttained,           // log2 s run so far
    kPreempted,          // log2 of 1 + its preemptions
    kRuns,               // 1: it runs and may move
    kBestScoreOverWait,  // score of its best option minus that of waiting or staying
    kExpertStays,        // 1: the rule would wait or stay
    kQueue,              // GPUs waited for over all GPUs, at most 1
    kFree,               // share of GPUs free
    kWaiting,            // log2 of 1 + waiting jobs
    kLive,               // jobs in the system, which the reward counts
    kMayPreempt,
    kMayMove,
    kMayHold,
    kMayChooseType,  // 1: the cluster allows it
  };

  static size_t memory_bytes(const View& view) {
    return Joint::bytes(view) + JointIndex::bytes(view);
  }

  // Processes events; call once in each decision, first. Returns whether there is a choice.
  static bool on_events(const View& view, const Config& config, std::byte* memory);
  // Opens the decision again as on_events() did, but processes no events.
  static void begin_round(const View& view, const Config& config, std::byte* memory);
  static bool needs_action(const View& view, const Config& config, const std::byte* memory);
  static void observe(const View& view, const Config& config, std::byte* memory, Observation& out);

  // Requires: a legal action of the last observe().
  static void apply(const View& view, const Config& config, std::byte* memory, int32_t action,
                    Draft& draft);
  static void commit(const View& view, const Config& config, std::byte* memory, Draft& draft);

  // Returns the options shown as rows: their indices into joint.options(). If there are more
  // options than rows, which is rare, these are the ones with the highest scores.
  static std::vector<int32_t> rows_of(const Joint& joint);
  static void observe(const View& view, const Config& config, const Joint& joint, Observation& out);
};

}  // namespace yard
