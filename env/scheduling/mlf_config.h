// Settings of MLF-H, for its policy and for the agent that first learns from MLF-H.
#pragma once

#include "env/base/config/settings.h"
#include "env/scheduling/mlf.h"
#include "env/scheduling/mlf_load.h"

namespace yard {

struct MlfsPolicyConfig {
  MlfsSettings rule;
  MlfsLoadControlSettings load;

  void fields(FieldList& f) {
    f("alpha", rule.weights.alpha, 0.0, 1.0, "weight of training progress against time terms");
    f("gamma", rule.weights.gamma, 0.0, 1.0, "discount of priority along a chain of tasks");
    f("deadline", rule.weights.deadline, 0.0, 1e3, "priority weight of 1 / time to the deadline");
    f("left", rule.weights.left, 0.0, 1e3, "priority weight of 1 / remaining run time");
    f("waited", rule.weights.waited, 0.0, 1e3, "priority weight of the waiting time");
    f("unit_h", rule.weights.unit_h, 1e-3, 1e4, "unit of times in a task's priority, in hours");
    f("overloaded", rule.overloaded, 0.0, 1.0,
      "share of its resources in use above which a server is overloaded");
    f("stopped_share", rule.stopped_share, 0.0, 1.0,
      "largest share of running jobs to preempt at a time");
    f("quantum_s", rule.quantum_s, 0.0, 1e6, "minimum run time after a job's start, in seconds");
    f("round_s", rule.round_s, 10.0, 1e6,
      "seconds without further preemptions after a preempted job begins to wait");
    f("load_control", load.on, "MLF-C: end jobs early if their users allow it");
    f("cluster_overloaded", load.overloaded, 0.0, 1.0,
      "mean use of servers above which the cluster is overloaded");
    f("about", load.near_limit, 0.0, 1.0,
      "share of the way from a metric's first value to its limit at which training is complete");
  }
};

}  // namespace yard
