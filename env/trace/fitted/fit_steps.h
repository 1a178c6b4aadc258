// The steps of fit_workload_model(): each file of this folder that includes the header fits some
// fields of the model.
#pragma once

#include <span>
#include <vector>

#include "env/trace/core/batches.h"
#include "env/trace/fitted/shared_variance.h"
#include "env/trace/fitted/workload_model.h"

namespace yard {

struct FitData {
  const std::vector<Job>& jobs;  // jobs of the part by rising submission
  SubmissionBatches batches;
  // Seconds added to times of the trace, so that 0 is the first hour of WorkloadModel::week.
  double shift_s;
  double from_s, to_s;                // bounds of the part
  std::vector<double> run_scores;     // normal score of each job's run time within its size class
  std::vector<double> number_scores;  // normal score of each batch's number of jobs

  const Job& job(int32_t index) const { return jobs[static_cast<size_t>(index)]; }
  // Returns when a batch begins, in seconds, with shift_s added.
  double begin_s(const SubmissionBatches::Batch& batch) const {
    return shift_s + static_cast<double>(job(batch.jobs.front()).submit_us) * 1e-6;
  }
};

inline double seconds(int64_t us) { return static_cast<double>(us) * 1e-6; }

inline size_t hour_of_week(int64_t hour) {
  constexpr auto kWeek = static_cast<int64_t>(WorkloadModel::kWeekHours);
  return static_cast<size_t>((hour % kWeek + kWeek) % kWeek);
}

// Fits WorkloadModel's profile, week and swings.
void fit_arrivals(const FitData& data, WorkloadModel& model);

// Fits WorkloadModel's newcomers, growth, memory, activity_sd and tenants.
void fit_owners(const FitData& data, WorkloadModel& model);

// Fits job sizes, the gaps and numbers of jobs of batches, and sets the scores in `data`.
void fit_sizes_gaps_batch_jobs(FitData& data, WorkloadModel& model);

// Fits batch_jobs_level, level_hours, level_with_rate. Requires: `model` has week and classes.
void fit_batch_jobs_fluctuation(const FitData& data, WorkloadModel& model);

// Fits how run times depend on owners and batches, and how often jobs repeat a run time.
void fit_run_times(const FitData& data, WorkloadModel& model);

// Fits the time limits, final statuses and kinds of jobs.
void fit_limits_statuses_kinds(const FitData& data, WorkloadModel& model);

const SizeClass& class_of(const WorkloadModel& model, int32_t gpus);
inline size_t size_class_index(const WorkloadModel& model, int32_t gpus) {
  return static_cast<size_t>(&class_of(model, gpus) - model.classes.data());
}

// Values of the jobs or batches of one size class, and the indices of these jobs or batches.
struct SizeClassValues {
  std::vector<double> values;
  std::vector<size_t> indices;

  void add(size_t index, double value) {
    indices.push_back(index);
    values.push_back(value);
  }
  // Sets scores[i] to the normal score of the value with index i, for every value.
  void score(std::vector<double>& scores) const;
};

// Returns the share of the variance of batches' scores that is common to the batches of an owner.
// Batches with the score NaN are ignored.
double owner_variance_share(const SubmissionBatches& batches, std::span<const double> scores);

// A choice by an owner, such as the size of a batch. Choices must come in order of time.
struct ChoiceByOwner {
  int32_t owner, what;
  double share;  // share of `what` among the choices of all owners
};

// Fits how an owner's next choice follows from earlier ones, by expectation-maximisation.
OwnerHabit fit_owner_habit(std::span<const ChoiceByOwner> choices);

}  // namespace yard
