// The goals in MLFS' reward (Wang, Liu and Shen, CoNEXT 2020, equation 7), with the weights of
// section 4.1. The paper gives no units. In this file, each goal is a sum over jobs divided by a
// unit, by default 1; scripts/mlfs_units.sh measures units in which differences of the goals are
// equally large. `pay_misses` charges missed goals instead of rewarding goals that are met.
#pragma once

#include "env/base/config/settings.h"

namespace yard {

// Sums over jobs since the episode began.
struct MlfsRewardSums {
  double job_s = 0;      // seconds of all jobs in the system
  double met = 0;        // number of jobs that met their deadline
  double bytes = 0;      // bytes moved between nodes
  double satisfied = 0;  // number of jobs that reached sufficient accuracy
  double accuracy = 0;   // sum of the accuracy of jobs that ended
  double due = 0;        // number of jobs that ended and had a deadline
  double measured = 0;   // number of jobs that ended and had an accuracy
};

struct MlfsRewardConfig {
  static constexpr double kMinUnit = 1e-9;

  double jct_weight = 0.5, deadline_weight = 0.55, bytes_weight = 0.25, enough_weight = 0.15;
  double accuracy_weight = 0.15;
  double jct_unit = 1, deadline_unit = 1, bytes_unit = 1, enough_unit = 1, accuracy_unit = 1;
  bool pay_misses = false;

  void fields(FieldList& f) {
    f("jct_weight", jct_weight, 0.0, 1e3, "weight of an hour of a job in the system");
    f("deadline_weight", deadline_weight, 0.0, 1e3, "weight of a job that meets its deadline");
    f("bytes_weight", bytes_weight, 0.0, 1e3, "weight of 10^12 bytes sent between nodes");
    f("enough_weight", enough_weight, 0.0, 1e3, "weight of a job that reaches sufficient accuracy");
    f("accuracy_weight", accuracy_weight, 0.0, 1e3, "weight of a job's final accuracy");
    f("jct_unit", jct_unit, kMinUnit, 1e9, "unit of jct_weight, in job-hours");
    f("deadline_unit", deadline_unit, kMinUnit, 1e9,
      "unit of deadline_weight, in jobs that meet their deadline");
    f("bytes_unit", bytes_unit, kMinUnit, 1e9, "unit of bytes_weight, in 10^12 bytes");
    f("enough_unit", enough_unit, kMinUnit, 1e9,
      "unit of enough_weight, in jobs with sufficient accuracy");
    f("accuracy_unit", accuracy_unit, kMinUnit, 1e9, "unit of accuracy_weight, in summed accuracy");
    f("pay_misses", pay_misses,
      "penalise missed deadlines and accuracies instead of rewarding met ones");
  }

  double reward(const MlfsRewardSums& of) const {
    if (pay_misses) {
      MlfsRewardConfig met = *this;
      met.pay_misses = false;
      return met.reward({of.job_s, of.met - of.due, of.bytes, of.satisfied - of.measured,
                         of.accuracy - of.measured});
    }
    return -jct_weight * of.job_s / 3600 / jct_unit + deadline_weight * of.met / deadline_unit -
           bytes_weight * 1e-12 * of.bytes / bytes_unit +
           enough_weight * of.satisfied / enough_unit +
           accuracy_weight * of.accuracy / accuracy_unit;
  }
};

}  // namespace yard
