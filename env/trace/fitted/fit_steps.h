// The steps of fit_workload_model(), one per file. Each fills its fields of the model. For these
// files only.
#pragma once

#include <span>
#include <vector>

#include "env/trace/core/batches.h"
#include "env/trace/fitted/shared_variance.h"
#include "env/trace/fitted/workload_model.h"

namespace yard {

// Input of all steps.
struct FitData {
  const std::vector<Job>& jobs;  // by rising submission
  Batches batches;
  // Added to times of the trace, so that 0 is the first hour of `week`.
  double shift_s;
  double from_s, to_s;             // of the part
  std::vector<double> run_scores;  // by job: normal scores within its size class
};

// Fits profile, week and swings.
void fit_arrivals(const FitData& data, WorkloadModel& model);

// Fits newcomers, growth, memory, activity_sd and tenants.
void fit_owners(const FitData& data, WorkloadModel& model);

// Fits sizes, size_habit, classes, gaps and numbers of jobs. Also sets data.run_scores.
void fit_sizes(FitData& data, WorkloadModel& model);

// Fits batch_jobs_level, level_hours and level_with_rate. Requires: week, classes.
void fit_levels(const FitData& data, WorkloadModel& model);

// Fits the shared and repeated parts of run times.
void fit_runs(const FitData& data, WorkloadModel& model);

// Fits limits, statuses and kinds.
void fit_extras(const FitData& data, WorkloadModel& model);

// Returns the class of a size.
const SizeClass& class_of(const WorkloadModel& model, int32_t gpus);

// A choice by an owner. Choices come in order of time.
struct OwnerChoice {
  int32_t owner, what;
  double share;  // of `what` among all choices
};

// Fits how the next choice follows from earlier ones, by expectation-maximisation.
Habit fit_habit(std::span<const OwnerChoice> choices);

}  // namespace yard
