// The steps of fit_like(), one a file: each fills its fields of the model. Only for these files.
#pragma once

#include <span>
#include <vector>

#include "env/trace/batches.h"
#include "env/trace/like.h"
#include "env/trace/shared_variance.h"

namespace yard {

// What all steps look at.
struct FitData {
  const std::vector<Job>& jobs;  // by rising submission
  Batches batches;
  // Clock times here are those of the trace plus this: 0 is the first hour of `week`.
  double shift_s;
  double from_s, to_s;             // of the part
  std::vector<double> run_scores;  // by job: normal scores within its class of sizes
};

// profile, week, swings.
void fit_arrivals(const FitData& data, LikeModel& model);

// newcomers, growth, memory, tenants.
void fit_owners(const FitData& data, LikeModel& model);

// sizes and their habit, classes, gaps, numbers of jobs; also data.run_scores.
void fit_sizes(FitData& data, LikeModel& model);

// batch_jobs_level and what goes with it. Requires: week, classes.
void fit_levels(const FitData& data, LikeModel& model);

// run_times: what they share and repeat.
void fit_runs(const FitData& data, LikeModel& model);

// Limits, statuses and kinds.
void fit_extras(const FitData& data, LikeModel& model);

// The class of a size.
const SizeClass& class_of(const LikeModel& model, int32_t gpus);

// What somebody chose, in order of time.
struct HabitChoice {
  int32_t who, what;
  double share;  // of `what` among the choices of all
};

// How the next choice follows from earlier ones, by expectation-maximisation.
Habit fit_habit(std::span<const HabitChoice> choices);

}  // namespace yard
