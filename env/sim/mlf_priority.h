// Priorities of tasks after MLFS (Wang, Liu and Shen, "Job Scheduling for Large-Scale Machine
// Learning Clusters", CoNEXT 2020), equations 2 to 6. A job's partitions of its model hang on each
// other in a chain, as its tasks do that run together here.
//
// What the paper leaves open, and how it is closed: in the first iteration no loss has fallen, and
// the share of the last fall counts as 1; a deadline that is past counts for nothing, since nothing
// can be won; what is nearer than a minute counts as a minute; times are counted in days. In hours,
// who has waited longest comes first whatever else is true of him: on Philly's jobs, congestion 3,
// mean JCT is then worse than that of a random order.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

namespace yard {

struct MlfWeights {
  double alpha = 0.3;  // what training counts against time, eq. 6
  double gamma = 0.8;  // what a task counts for the one that it hangs on, eq. 3 and 5
  double deadline = 0.3, left = 0.3, waited = 0.35;  // eq. 4
  double unit_h = 24;                                // its unit of time
};

// Of one job, alike for all its tasks.
struct MlfJob {
  static constexpr double kNoDeadline = std::numeric_limits<double>::infinity();
  double urgency = 1;    // L_J
  double iteration = 1;  // I, from 1
  double last_fall =
      1;  // dl_{I-1} / sum of dl_j: share of the last iteration of all that loss fell
  double to_deadline_h = kNoDeadline;  // d - t
  double left_h = 0;                   // r
  double waited_h = 0;                 // w
};

// Eq. 2; share: of the model's parameters, that the task's partition has.
inline double mlf_learning(const MlfJob& job, double share) {
  return job.urgency / job.iteration * job.last_fall * share;
}

// Eq. 4.
inline double mlf_time(const MlfWeights& weights, const MlfJob& job) {
  constexpr double kLeastH = 1.0 / 60;
  double soon = weights.left / std::max(job.left_h, kLeastH);
  if (job.to_deadline_h > 0) soon += weights.deadline / std::max(job.to_deadline_h, kLeastH);
  return soon * weights.unit_h + weights.waited * job.waited_h / weights.unit_h;
}

// Eq. 6 of the first of a chain of partitions, on which all others hang (eq. 3 and 5): the highest
// priority of a task of the job. Parameter servers, which the paper puts before everything, are no
// partitions: they start with the others here, and would say nothing. Requires: a partition.
inline double mlf_priority(const MlfWeights& weights, const MlfJob& job,
                           std::span<const double> shares) {
  double learning = 0, time = 0;
  for (size_t k = shares.size(); k-- > 0;) {
    learning = mlf_learning(job, shares[k]) + weights.gamma * learning;
    time = mlf_time(weights, job) + weights.gamma * time;
  }
  return weights.alpha * learning + (1 - weights.alpha) * time;
}

}  // namespace yard
