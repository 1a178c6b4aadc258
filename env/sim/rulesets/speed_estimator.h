// The speeds that a policy sees (`--speeds`):
//   exact    the tables
//   noisy    the tables with log-normal errors, drawn from the seed: one error for each model with
//            its all-reduce, GPU type and spread; one for each model, GPU type and neighbour model
//   learned  a prior (the speed of the GPU type, no slowdown by neighbours or spread), corrected by
//            the progress of running jobs
// All levels show speeds of GPU types, sizes of models, and where a model does not fit.
//
//   SpeedEstimator speeds(fixed, SpeedInformation::kLearned, 0.25, seed);
//   const View view(fixed, state, level, nullptr, speeds.estimates_for_views());
//   ... advance ...; speeds.learn_from_progress(state);
//   decide(view); speeds.record_placements(state);
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "env/base/core/rng.h"
#include "env/sim/rulesets/rule_set.h"
#include "env/sim/state/state.h"

namespace yard {

const char* speed_information_name(SpeedInformation level);
// Throws InputError, naming the place `where`, if no level is called `name`.
SpeedInformation parse_speed_information(const std::string& name, const std::string& where);

// Dims: K kinds, T GPU types, N GPUs, S spans (see speed.h); C job classes, M nodes, B = kSpreads.
class SpeedEstimator {
 public:
  // `noise` is the standard deviation of the log error. Requires: `fixed` outlives this object.
  SpeedEstimator(const SimModel& fixed, SpeedInformation level, double noise, uint64_t seed);
  SpeedEstimator(const SpeedEstimator&) = delete;

  // Returns the speeds that views show; null for kExact.
  const SpeedEstimates* estimates_for_views() const {
    return level_ == SpeedInformation::kExact ? nullptr : &shown_;
  }

  // At level kLearned, learns from the progress of jobs since record_placements(). Call this
  // function after every event and before the scheduler decides.
  void learn_from_progress(const SimState& state);
  // At level kLearned, records where jobs run. Call this function after every decision.
  void record_placements(const SimState& state);

 private:
  // Running mean of observed values.
  struct Mean {
    double sum = 0;
    int32_t count = 0;
    double value() const { return sum / count; }
  };
  // A running job, as it was after the last decision.
  struct Run {
    bool known = false;
    uint32_t generation = 0;
    int32_t started = 0;
    int64_t attained_us = 0;
    double work_done_us = 0;
    int32_t job = kNone, kind = kNone, type = 0, gpus = 0, nodes = 0;  // kind kNone: not measured
    Tier tier = Tier::kIsland;
    double held_fraction_of_first_task_group =
        1;  // share of the requested workers that the job holds
    // Kinds of other jobs on the job's most shared node, each with its share of the node's GPUs.
    std::vector<std::pair<int32_t, double>> neighbours;
    double learned_rate = -1;  // rate from which learn() last learned in this run
  };

  void copy_tables();
  void add_noise(double noise, uint64_t seed);
  void reset_to_prior();
  void map_variants_to_base_variants();
  void find_reference_placements();
  void find_running_jobs_by_node(const SimState& state);
  Run run_of(const SimState& state, int32_t slot) const;
  int32_t slowest_type(const SimState& state, int32_t slot, const Run& at) const;
  void find_colocated_jobs(const SimState& state, int32_t slot, Run& out) const;
  void learn(const Run& run, double rate);
  void learn_colocation_loss(const Run& run, double time_over_alone);
  double learned_efficiency(int32_t kind, int32_t type, int32_t gpus, int32_t span) const;
  double learned_efficiency_of_spread_class(int32_t kind, int32_t type, size_t spread) const;
  // Of the kinds that differ from the base kind in parameter servers or all-reduce only.
  void recompute_speeds_of_variants(int32_t base);
  void fill_reference_speeds();

  size_t cell(int32_t kind, int32_t type, int32_t gpus, int32_t span) const {
    const size_t row = index_of_type(kind, type) * static_cast<size_t>(exact_.max_gpus + 1);
    return (row + static_cast<size_t>(gpus)) * kSpans + static_cast<size_t>(span);
  }
  size_t index_of_type(int32_t kind, int32_t type) const {
    return static_cast<size_t>(kind) * static_cast<size_t>(exact_.num_types) +
           static_cast<size_t>(type);
  }
  size_t pair_index(int32_t type, int32_t one, int32_t other) const {
    const auto kinds = static_cast<size_t>(exact_.num_kinds);
    return (static_cast<size_t>(type) * kinds + static_cast<size_t>(one)) * kinds +
           static_cast<size_t>(other);
  }

  const SimModel& fixed_;
  const SpeedInformation level_;
  const SpeedColumns exact_;
  SpeedEstimates shown_;
  std::vector<double> steps_, exchange_share_;        // (K, T, N, S)
  std::vector<double> pair_, reference_, gradients_;  // (T, K, K), (C), (K)
  std::vector<double> model_speed_;                   // (rows, types of the cluster)
  std::vector<double> type_speed_;                    // (types of the cluster)
  // (K) Base kind shared by all variants of a model: variants with other numbers of parameter
  // servers or, if speeds are learned, with other all-reduces.
  std::vector<int32_t> base_;
  // Learned means of log(steps per second / (GPUs x speed of the type)), from the finest to the
  // coarsest grouping of observations: (K, T, N, S), (K, T, B), (K, T), (K).
  std::vector<Mean> of_cell_, of_spread_, of_type_, of_base_;
  std::vector<Mean> crowded_;   // (K, T)  means with co-located jobs, used until a job runs alone
  std::vector<double> loss_;    // (T, K, K)  time lost, weighted as in added_time_ppb()
  std::vector<Mean> of_model_;  // (rows, types of the cluster)
  // (C) Placement on which a class's throughput is 1: number of GPUs, GPU type (kNone: not in the
  // cluster), and span.
  std::vector<int32_t> reference_gpus_, reference_type_, reference_span_;
  std::vector<char> reference_seen_;  // (C)  whether a job of the class ran
  std::vector<char> stale_;  // (K)  base kinds to recompute with recompute_speeds_of_variants()
  std::vector<Run> runs_;    // by slot
  // (M) Running jobs with a measured model on each node: kind, slot, and GPUs on the node.
  struct JobOnNode {
    int32_t kind, slot, gpus;
  };
  std::vector<std::vector<JobOnNode>> holders_;
};

}  // namespace yard
