// The steps of fit_workload_model(), one per file. Each fills its fields of the model. For these
// files only.
#pragma once

#include <span>
#include <vector>

#include "env/trace/core/batches.h"
#include "env/trace/fitted/shared_variance.h"
#include "env/trace/fitted/workload_model.h"

namespace yard {

struct FitData {
  const std::vector<Job>& jobs;  // by rising submission
  Batches batches;
  // Added to times of the trace, so that 0 is the first hour of `week`.
  double shift_s;
  double from_s, to_s;                // of the part
  std::vector<double> run_scores;     // by job: normal scores within its size class
  std::vector<double> number_scores;  // by batch: those of its number of jobs

  const Job& job(int32_t index) const { return jobs[static_cast<size_t>(index)]; }
  // Returns when a batch begins, on the shifted clock.
  double begin_s(const Batches::Batch& batch) const {
    return shift_s + static_cast<double>(job(batch.jobs.front()).submit_us) * 1e-6;
  }
};

inline double seconds(int64_t us) { return static_cast<double>(us) * 1e-6; }

inline size_t hour_of_week(int64_t hour) {
  constexpr auto kWeek = static_cast<int64_t>(WorkloadModel::kWeekHours);
  return static_cast<size_t>((hour % kWeek + kWeek) % kWeek);
}

// Fits profile, week and swings.
void fit_arrivals(const FitData& data, WorkloadModel& model);

// Fits newcomers, growth, memory, activity_sd and tenants.
void fit_owners(const FitData& data, WorkloadModel& model);

// Fits sizes, size_habit, classes, gaps and numbers of jobs. Also sets the scores in `data`.
void fit_sizes(FitData& data, WorkloadModel& model);

// Fits batch_jobs_level, level_hours and level_with_rate. Requires: week, classes.
void fit_jobs_per_batch_level(const FitData& data, WorkloadModel& model);

// Fits the shared and repeated parts of run times.
void fit_run_times(const FitData& data, WorkloadModel& model);

// Fits limits, statuses and kinds.
void fit_limits_statuses_kinds(const FitData& data, WorkloadModel& model);

const SizeClass& class_of(const WorkloadModel& model, int32_t gpus);
inline size_t size_class_index(const WorkloadModel& model, int32_t gpus) {
  return static_cast<size_t>(&class_of(model, gpus) - model.classes.data());
}

// Values of a class's jobs or batches, and their indices.
struct SizeClassValues {
  std::vector<double> values;
  std::vector<size_t> indices;

  void add(size_t index, double value) {
    indices.push_back(index);
    values.push_back(value);
  }
  // Writes the normal score of each value to its index.
  void score(std::vector<double>& scores) const;
};

// Returns the share of the variance of batches' scores that batches of an owner have in common. A
// batch with the score NaN is ignored.
double owner_variance_share(const Batches& batches, std::span<const double> scores);

// A choice that an owner made, such as the size of a batch. Choices come in order of time.
struct ChoiceByOwner {
  int32_t owner, what;
  double share;  // of `what` among all choices
};

// Fits how the next choice follows from earlier ones, by expectation-maximisation.
OwnerHabit fit_owner_habit(std::span<const ChoiceByOwner> choices);

}  // namespace yard
