// The steps of sample_workload(), each in a file of its own.
#pragma once

#include <span>
#include <vector>

#include "env/trace/fitted/workload_model.h"
#include "env/trace/generators/generator_common.h"

namespace yard {

// Largest time of a generated trace, so that microseconds stay far from the end of int64.
constexpr double kMaxSampledS = 1e9;

// Independent streams of random numbers that are derived from the seed.
enum class SampleStream { kOwnerOrder, kBatch, kOwner, kJobs, kStarts, kGaps, kSwings, kLevels };

// Independent streams of random numbers for the draws of one owner.
enum class OwnerStream : uint64_t { kNumber, kRun, kLimit, kTenant, kActivity };

inline Rng stream_of(const Rng& seed, SampleStream stream) {
  return seed.split(static_cast<uint64_t>(stream));
}

inline Rng stream_of(const Rng& seed, int32_t owner, OwnerStream stream) {
  return stream_of(seed, SampleStream::kOwner)
      .split(static_cast<uint64_t>(owner))
      .split(static_cast<uint64_t>(stream));
}

struct PlannedBatch {
  int32_t owner = 0;
  int32_t gpus = 0;
  int32_t before = -1;         // index of the previous batch of this owner and size; -1: none
  int32_t kind = -1;           // index in model.kinds; -1: the jobs have no kind
  int64_t first = 0, end = 0;  // range of jobs
};

struct PlannedBatches {
  int32_t owners = 0;
  std::vector<PlannedBatch> batches;  // batches by their start
};

// Draws the owner of each next batch. Owners are numbered from 0.
class OwnerSampler {
 public:
  OwnerSampler(const WorkloadModel& model, const Rng& seed);
  int32_t next();
  int32_t number() const { return number_; }

 private:
  const WorkloadModel& model_;
  Rng seed_, rng_;
  WeightedSampler memory_, active_;
  std::vector<int32_t> of_;  // owner by batch
  int32_t number_ = 0;
};

// Maps the even scale 0 to 1, on which batches begin uniformly, to a time span in which the rate of
// batches varies. Busy hours take a larger part of the scale.
class ArrivalTimeMap {
 public:
  ArrivalTimeMap(const WorkloadModel& model, double span_s, const Rng& seed);
  double span_s() const { return span_s_; }
  double time_s(double even_position) const;  // seconds from the span's start
  double level(
      double even_position) const;  // level of the number of jobs of a batch that begins then

 private:
  size_t hour_index_in_span(double even_position) const;
  double span_s_;
  std::vector<double> sums_ = {0};  // arrivals expected by the end of each hour
  std::vector<double> levels_;      // level by hour
};

// Draws batches with their owners, sizes and numbers of jobs until they have `jobs` jobs in all.
PlannedBatches plan_batches(const WorkloadModel& model, int64_t jobs, int32_t most_gpus,
                            const ArrivalTimeMap& times, const Rng& seed);

// Draws run times batch by batch. Some jobs repeat an earlier job's run time almost exactly.
class RunTimeSampler {
 public:
  RunTimeSampler(const WorkloadModel& model, const PlannedBatches& plan, const Rng& seed);

  // Draws the run times of a batch and returns the part common to its jobs: a normal score times
  // the root of the part's share of the variance. Requires: earlier batches were drawn.
  double draw_run_times(size_t batch_index, Rng& rng);

  double seconds(int64_t job) const;  // run time in seconds, in whole steps of the model
  double score(int64_t job) const { return scores_[static_cast<size_t>(job)]; }

 private:
  const WorkloadModel& model_;
  const PlannedBatches& plan_;
  std::vector<double> owner_part_, batch_part_;
  std::vector<double> log_s_, scores_;  // by job
};

// Draws an index of `shares`, which add up to 1, with the shares as probabilities.
size_t draw_by_share(std::span<const double> shares, Rng& rng);

// Returns the tenth of all jobs, by run time and from 0, in which a job with this score lies.
size_t run_time_decile(double normal_score);

// Fills in all fields of the jobs except their submission times and ids.
void fill_all_but_submission_times(const WorkloadModel& model, const PlannedBatches& plan,
                                   const Rng& seed, std::vector<Job>& jobs);

// Fills submit_us. All batches begin within the time span; a few jobs may come after it.
void set_submission_times(const WorkloadModel& model, const PlannedBatches& plan,
                          const ArrivalTimeMap& times, const Rng& seed, std::vector<Job>& jobs);

}  // namespace yard
