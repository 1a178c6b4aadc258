// What MLFS' reward sums up (Wang, Liu and Shen, CoNEXT 2020, equation 7), with the weights of its
// section 4.1. The paper gives its goals no units; here they are sums over jobs, each divided by a
// unit: 1 in what ships, elsewhere by how much six named rules differ in it, a job, on the training
// part (scripts/mlfs_units.sh), so that weights weigh differences of one size.
#pragma once

#include "env/base/settings.h"

namespace yard {

// Sums so far.
struct MlfsSums {
  double job_s = 0;     // of jobs in the system
  double met = 0;       // jobs that ended in time
  double bytes = 0;     // moved between nodes
  double content = 0;   // jobs whose accuracy is enough
  double accuracy = 0;  // of jobs that ended
};

struct MlfsGoals {
  static constexpr double kLeastUnit = 1e-9;

  double jct_weight = 0.5, deadline_weight = 0.55, bytes_weight = 0.25, enough_weight = 0.15;
  double accuracy_weight = 0.15;
  double jct_unit = 1, deadline_unit = 1, bytes_unit = 1, enough_unit = 1, accuracy_unit = 1;

  void fields(FieldList& f) {
    f("jct_weight", jct_weight, 0.0, 1e3, "of an hour that a job is in the system");
    f("deadline_weight", deadline_weight, 0.0, 1e3, "of a job that ends in time");
    f("bytes_weight", bytes_weight, 0.0, 1e3, "of 10^12 bytes between nodes");
    f("enough_weight", enough_weight, 0.0, 1e3, "of a job whose accuracy is enough");
    f("accuracy_weight", accuracy_weight, 0.0, 1e3, "of the accuracy of a job that ends");
    f("jct_unit", jct_unit, kLeastUnit, 1e9, "hours of a job that jct_weight is paid for");
    f("deadline_unit", deadline_unit, kLeastUnit, 1e9, "jobs in time, likewise");
    f("bytes_unit", bytes_unit, kLeastUnit, 1e9, "10^12 bytes, likewise");
    f("enough_unit", enough_unit, kLeastUnit, 1e9, "jobs whose accuracy is enough, likewise");
    f("accuracy_unit", accuracy_unit, kLeastUnit, 1e9, "sum of accuracies, likewise");
  }

  double paid(const MlfsSums& of) const {
    return -jct_weight * of.job_s / 3600 / jct_unit + deadline_weight * of.met / deadline_unit -
           bytes_weight * 1e-12 * of.bytes / bytes_unit + enough_weight * of.content / enough_unit +
           accuracy_weight * of.accuracy / accuracy_unit;
  }
};

}  // namespace yard
