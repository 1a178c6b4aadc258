// Linear interference model of co-located jobs (interference.h), which replaces the reward model of
// Harmony (Bao, Peng and Wu, INFOCOM 2019). For a job of type a, co-located with jobs of types b:
//   time per work = 1 + u_a L + sum_b v_b l_b + s_a d + p r + o c + q c L,   L = sum_b l_b
// l_b: share of the GPUs of the job's worst node held by jobs of type b. d: 1 if the job spans more
// nodes than needed. r: 1 if a task without GPUs is on a node without GPUs of the job. c: share of
// CPUs allocated beyond all CPUs of the worst node. Weights are learned. The
// type of a job is its model modulo kTypes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "env/base/core/least_squares.h"
#include "env/scheduling/interference.h"
#include "env/sim/placement/task_placer.h"
#include "env/sim/placement/throughput_model.h"

namespace yard {

class ColocationModel {
 public:
  static constexpr int kTypes = 8;
  enum Term {
    kIntercept,
    kOwnType,
    kOtherTypes = kOwnType + kTypes,
    kSpread = kOtherTypes + kTypes,
    kSplitRoles = kSpread + kTypes,
    kCpus,
    kCpusTimesLoad,
    kTerms
  };
  using Learned = InterferenceModel<LeastSquares<kTerms>>;
  using Terms = Learned::Terms;

  // Returns the initial weights: work takes twice as long if other jobs hold all GPUs of the node,
  // or if twice the node's CPUs are allocated.
  static Terms initial_weights();

  // Requires: the arguments outlive this object, and `throughput_model` knows the current occupants.
  ColocationModel(const View& view, const ThroughputModel& throughput_model,
                  const Learned& learned);

  // Returns the linear terms of a running job on its placement.
  Terms terms(int32_t slot) const { return terms(slot, held_pieces(view_, slot), {}); }
  // Returns the predicted time per unit of work of a waiting job on `pieces`, at least 1 / 16.
  double predicted_time_per_work(int32_t slot, std::span<const Piece> pieces) const {
    return predicted_time_per_work(slot, pieces, {slot, pieces});
  }
  // Returns the interference cost of placing the job on `pieces`, in GPUs.
  double interference_cost(int32_t slot, std::span<const Piece> pieces) const;

 private:
  // A job to be started; slot kNone: no job.
  struct StartingJob {
    int32_t slot = kNone;
    std::span<const Piece> pieces = {};
  };

  Terms terms(int32_t slot, std::span<const Piece> pieces, const StartingJob& starting_job) const;
  double predicted_time_per_work(int32_t slot, std::span<const Piece> pieces,
                                 const StartingJob& starting_job) const;
  int model_bucket(int32_t slot) const {
    return std::max(0, throughput_model_.model_variant_index(slot)) % kTypes;
  }
  double cpu_overcommit(int32_t node, const StartingJob& starting_job) const;

  const View& view_;
  const ThroughputModel& throughput_model_;
  const Learned& learned_;
  TaskPlacer placer_;
  std::vector<double> allocated_cpus_;  // (M)  allocated CPUs as a share of the node's CPUs
};

}  // namespace yard
