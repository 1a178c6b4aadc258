// A statistical model of a recorded workload: parameters fitted to a part of a trace, which can be
// written, read and edited, and the jobs generated from them. It holds no row of the trace.
//
// docs/guides/generate-a-workload.md shows how closely the jobs resemble recorded ones.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "env/trace/core/job.h"

namespace yard {

// A distribution of numbers of at least 0: knots at even shares of its body, and a tail beyond the
// largest value seen. Means and interpolation use the scale log(1 + x), which allows zeros and
// treats relative differences of seconds and of weeks alike.
struct Quantiles {
  // At shares 0, 1/(K-1), ..., 1 of the body, with linear interpolation. Each is the mean of at
  // least 5 values around its share, so that none is a single job's value. Equal values stay exact.
  std::vector<double> knots;
  double body = 1;            // share of the values in the body
  std::vector<double> upper;  // values exceeded by 1/2, 1/4, 1/8, ... of the rest
  // Beyond these, log(1 + x) exceeds the last one's by a generalised Pareto variable. With shape 0,
  // x itself follows a power law with index 1 / scale; below 0, x has a largest value.
  double tail_scale = 0, tail_shape = 0;

  double at(double share) const;  // Requires: 0 <= share < 1
  double mean() const;            // over 20,000 even shares

  void fields(auto& f) {
    f("knots", knots, 0.0, 1e12);
    f("body", body, 0.0, 1.0);
    f("upper", upper, 0.0, 1e12);
    f("tail_scale", tail_scale, 0.0, 20.0);
    f("tail_shape", tail_shape, -10.0, 0.0);
  }
};

// Returns the distribution of the values. Requires: at least one value. Has at most 101 knots. From
// 60 values on, those above the body are halved until 20 to 40 are left; their tail is fitted by
// L-moments (Hosking, "L-moments", J. R. Stat. Soc. B 1990). A tail without a mean (a power law
// with index 1 or less) is replaced by one with index 1.1.
Quantiles quantiles_of(std::vector<double> values);

// How an owner's next value follows from its earlier ones: the last again (probability `last`), any
// earlier one (`own`), or else one by its share in the whole trace.
struct OwnerHabit {
  double last = 0, own = 0;
  void fields(auto& f) {
    f("last", last, 0.0, 1.0);
    f("own", own, 0.0, 1.0);
  }
};

// What the run times of a size class have in common.
struct RunTimeSimilarity {
  // Shares of the variance of a job's normal score. The rest is the job's own.
  double owner = 0, batch = 0;
  double stay = 0;            // correlation of the batch part with that of the previous batch
  double repeat_sibling = 0;  // share of jobs that repeat a recent job of their batch
  double repeat_last = 0;     // share of these that repeat the latest one
  double repeat_batch = 0;    // share of batches whose first job repeats one of the previous batch
  std::vector<double> apart;  // share of each of WorkloadModel::kRepeatSd among repetitions
  void fields(auto& f) {
    f("owner", owner, 0.0, 1.0);
    f("batch", batch, 0.0, 1.0);
    f("stay", stay, 0.0, 1.0);
    f("repeat_sibling", repeat_sibling, 0.0, 1.0);
    f("repeat_last", repeat_last, 0.0, 1.0);
    f("repeat_batch", repeat_batch, 0.0, 1.0);
    f("apart", apart, 0.0, 1.0);
  }
};

// Neighbouring sizes that share distributions, since a single size has few jobs.
struct SizeClass {
  int32_t most_gpus = 0;  // largest size; the smallest is one above the previous class's
  int64_t jobs = 0;       // number of jobs it was fitted to
  RunTimeSimilarity together;
  Quantiles run_s;       // over jobs
  Quantiles batch_jobs;  // over batches: number of jobs after the first
  Quantiles limit_s;     // over jobs with a limit; no knots: no job has one
  void fields(auto& f) {
    f("most_gpus", most_gpus, 0, INT32_MAX);
    f("jobs", jobs, 0, INT64_MAX);
    f("together", together);
    f("run_s", run_s);
    f("batch_jobs", batch_jobs);
    f("limit_s", limit_s);
  }
};

struct SizeShare {
  int32_t gpus = 0;
  double share = 0;  // of batches
  void fields(auto& f) {
    f("gpus", gpus, 0, INT32_MAX);
    f("share", share, 0.0, 1.0);
  }
};

// The rate of batches is multiplied by exp(x), where x is normal with this variance. The
// correlation of x over t hours is exp(-t / hours).
struct RateFluctuation {
  double hours = 1, variance = 0;
  void fields(auto& f) {
    f("hours", hours, 0.01, 1e6);
    f("variance", variance, 0.0, 10.0);
  }
};

// What the jobs of a batch need besides GPUs, in combinations found in the trace.
struct JobKind {
  int32_t gpus = 0;
  double share = 0;  // of the batches of this size
  std::string model;
  int32_t batch_size = 0;
  double iteration_ms = 0;
  std::vector<std::string> gpu_types;
  std::vector<RoleGroup> groups;
  void fields(auto& f) {
    f("gpus", gpus, 0, INT32_MAX);
    f("share", share, 0.0, 1.0);
    f("model", model);
    f("batch_size", batch_size, 0, INT32_MAX);
    f("iteration_ms", iteration_ms, 0.0, 1e12);
    f("gpu_types", gpu_types);
    f("groups", groups);
  }
};

struct WorkloadModel {
  static constexpr size_t kWeekHours = 168;
  // Mean distance, in batches, from which "a recent batch" is drawn.
  static constexpr std::array<double, 4> kMemory = {1, 6, 36, 216};
  static constexpr double kMinHoursOfSlowSwing =
      24;                            // from this length on, swings also move numbers of jobs
  static constexpr int kRecent = 8;  // siblings that a job may repeat
  // Standard deviations of the difference of a job and its repetition, in log(1 + seconds).
  static constexpr std::array<double, 4> kRepeatSd = {0.002, 0.01, 0.05, 0.2};
  static constexpr int kLengths = 10;  // classes of run time: tenths of the jobs

  // Source.
  std::string source, format, sha256;  // of the trace
  double from_s = 0, to_s = 0;         // the part that was fitted
  int64_t jobs = 0;
  std::string owner = "nobody";  // owners of batches: "user", "tenant" or "nobody"
  double step_s = 1e-6;          // times are whole multiples of it
  double mean_gpu_s = 0;         // mean GPU-seconds of a job

  // When batches begin.
  std::string profile = "flat";  // detail of `week`: "flat", "hours" or "hours and weekdays"
  bool calendar = false;         // hour 0 is Monday 00:00 UTC; false: the trace's zero
  std::vector<double> week;      // relative rate in each hour, mean 1
  std::vector<RateFluctuation> swings;

  // Owners. After n batches by U owners, the next batch has a new owner with probability (newcomers
  // + growth U) / (newcomers + n). Otherwise its owner is that of a recent batch, or is drawn by
  // activity, which is log-normal over owners.
  double newcomers = 1, growth = 0;
  std::vector<double> memory;  // share of each of kMemory; the rest is drawn by activity
  double activity_sd = 0;
  std::vector<double> tenants;  // share of users in each tenant; empty: no tenants, or owners are
                                // tenants, not users

  // Sizes and numbers of jobs.
  std::vector<SizeShare> sizes;
  OwnerHabit size_habit;
  std::vector<SizeClass> classes;  // by rising size
  std::vector<JobKind> kinds;      // empty: whole GPUs only
  OwnerHabit kind_habit;
  // Shares of the variance of a batch's number of jobs: of its owner, and of a level which batches
  // of one time share. The correlation of the level over t hours is exp(-t / level_hours). A part
  // of the level, up to all, follows the swings of a day and longer.
  double batch_jobs_owner = 0;
  double batch_jobs_level = 0, level_hours = 24;
  double level_with_rate = 0;  // correlation with those swings
  Quantiles gap_s;             // between jobs of a batch
  double gap_batch = 0;        // the batch's share of the variance of its score
  double gap_with_jobs = 0;    // correlation of that part with the batch's number of jobs

  // Limits and statuses.
  double limit_owner = 0;        // the owner's share of the variance of a limit's score
  double limit_with_run = 0;     // correlation of a batch's limit with its run times
  std::vector<double> limits_s;  // usual limits; empty: whole minutes
  std::vector<double> timeouts;  // share of jobs that reach their limit, by kLengths; may be empty
  std::vector<std::string> statuses;
  std::vector<double> status_shares;  // (kLengths, statuses)
};

struct SampleOptions {
  uint64_t seed = 1;
  int64_t jobs = 0;      // 0: as in the fitted part, or as fit in `days`
  double days = 0;       // 0: as long as `jobs` take
  double load = 0;       // GPU time asked for over that of `cluster_gpus`; 0: as in the trace
  int cluster_gpus = 0;  // largest size of a job; 0: any
};

// Returns jobs sorted by submission. Equal models and options give equal jobs. Throws InputError if
// options contradict each other or the model.
std::vector<Job> sample_workload(const WorkloadModel& model, const SampleOptions& options);

// Throws InputError, beginning with `where`, if parts of the model are inconsistent.
void check_workload_model(const WorkloadModel& model, const std::string& where);

// Returns the model as JSON, one item per line, rounded to 8 digits. Generation starts from this
// text, which people can read and edit.
std::string to_text(const WorkloadModel& model);

// Parses a model. Throws InputError, with line and column in `name`: no JSON or YAML, a key
// missing, unknown or repeated, a value of the wrong type or out of range, or inconsistent parts.
WorkloadModel parse_workload_model(const std::string& text, const std::string& name);

// Change it whenever the same model and seed generate other jobs.
constexpr const char* kSamplerRevision = "2";

}  // namespace yard
