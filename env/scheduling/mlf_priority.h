// Task priorities of MLFS (Wang, Liu and Shen, "Job Scheduling for Large-Scale Machine Learning
// Clusters", CoNEXT 2020), equations 2 to 6. The partitions of a model depend on each other in a
// chain, although all tasks of a job run together.
//
// Not specified in the paper: in the first iteration, the share of the last loss reduction is 1. A
// past deadline has no weight. Times below a minute count as a minute. Times are in days: in hours,
// the longest wait outweighs all other terms, and mean JCT is worse than with a random order.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

namespace yard {

struct MlfsPriorityWeights {
  double alpha = 0.3;  // weight of training progress against time, eq. 6
  double gamma = 0.8;  // discount of tasks along the chain, eq. 3 and 5
  double deadline = 0.3, left = 0.3, waited = 0.35;  // eq. 4
  double unit_h = 24;                                // [h] unit of times in eq. 4 of MLFS
};

// Variables of a job for the priorities of its tasks.
struct MlfsJobState {
  static constexpr double kNoDeadline = std::numeric_limits<double>::infinity();
  double urgency = 1;    // L_J
  double iteration = 1;  // I, from 1
  double last_fall = 1;  // dl_{I-1} / sum of dl_j: last iteration's share of the loss reduction
  double to_deadline_h = kNoDeadline;  // d - t
  double left_h = 0;                   // r
  double waited_h = 0;                 // w
};

// Returns eq. 6 of the first partition in the chain, which has the highest priority (eq. 3 and 5).
// Parameter servers, which come first in the paper, start together with the workers here. `shares`
// (partitions): parameters.
inline double mlf_priority(const MlfsPriorityWeights& weights, const MlfsJobState& job,
                           std::span<const double> shares) {
  constexpr double kMinH = 1.0 / 60;
  double soon = weights.left / std::max(job.left_h, kMinH);
  if (job.to_deadline_h > 0) soon += weights.deadline / std::max(job.to_deadline_h, kMinH);
  const double task_time = soon * weights.unit_h + weights.waited * job.waited_h / weights.unit_h;
  double learning = 0, time = 0;
  for (size_t k = shares.size(); k-- > 0;) {
    // The sums are eq. 2 and 4 for partition k.
    learning = job.urgency / job.iteration * job.last_fall * shares[k] + weights.gamma * learning;
    time = task_time + weights.gamma * time;
  }
  return weights.alpha * learning + (1 - weights.alpha) * time;
}

}  // namespace yard
