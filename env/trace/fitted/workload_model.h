// A statistical model of a recorded workload, from which new jobs are generated. Its parameters are
// fitted to a part of a trace, and can be written, read and edited.
// The model holds no row of the trace. docs/guides/generate-a-workload.md shows how closely
// generated jobs resemble recorded ones.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "env/trace/core/job.h"

namespace yard {

// A distribution of numbers of at least 0: quantiles at even shares of its body (the knots), and a
// tail beyond the body. Means and interpolation use the scale log(1 + x), which allows zeros and
// treats relative differences of seconds and of weeks alike.
struct Quantiles {
  // Quantiles at shares 0, 1/(K-1), ..., 1 of the body, with linear interpolation. Each knot is the
  // mean of at least 5 values, so that no single job's value shows; repeated values stay exact.
  std::vector<double> knots;
  double body = 1;            // share of the values in the body
  std::vector<double> upper;  // values that 1/2, 1/4, 1/8, ... of the values above the body exceed
  // Above the last value of `upper`, log(1 + x) grows by a generalised Pareto variable. With shape
  // 0, x follows a power law with index 1 / scale; with a shape below 0, x has a largest value.
  double tail_scale = 0, tail_shape = 0;

  double at(double share) const;  // quantile; requires 0 <= share < 1
  double mean() const;            // mean over 20,000 even shares

  void fields(auto& f) {
    f("knots", knots, 0.0, 1e12);
    f("body", body, 0.0, 1.0);
    f("upper", upper, 0.0, 1e12);
    f("tail_scale", tail_scale, 0.0, 20.0);
    f("tail_shape", tail_shape, -10.0, 0.0);
  }
};

// Returns the distribution of at least one value, with at most 101 knots. For 60 values or more,
// the values above the body are halved until 20 to 40 are left, whose tail is fitted by L-moments
// (Hosking, "L-moments", J. R. Stat. Soc. B 1990). A tail without a mean (a power law with index 1
// or less) is replaced by one with index 1.1.
Quantiles quantiles_of(std::vector<double> values);

// How an owner's next value follows from earlier ones: the last value again (probability `last`),
// any earlier value of the owner (`own`), or a value drawn by its share in the whole trace.
struct OwnerHabit {
  double last = 0, own = 0;
  void fields(auto& f) {
    f("last", last, 0.0, 1.0);
    f("own", own, 0.0, 1.0);
  }
};

// How the run times of the jobs of one size class resemble one another.
struct RunTimeSimilarity {
  // Shares of the variance of run time scores which jobs of an owner, or a batch, have in common.
  double owner = 0, batch = 0;
  double stay = 0;            // correlation of `batch` parts of two successive batches
  double repeat_sibling = 0;  // share of jobs that repeat the run time of a recent sibling
  double repeat_last = 0;     // share of repeating jobs that repeat the latest sibling
  double repeat_batch = 0;    // share of batches whose first job repeats a job of the batch before
  std::vector<double> apart;  // share of each deviation in WorkloadModel::kRepeatSd
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

// A range of job sizes that share distributions, since a single size has few jobs.
struct SizeClass {
  int32_t most_gpus = 0;  // largest size; the smallest is one above the previous class's largest
  int64_t jobs = 0;       // number of jobs to which the class was fitted
  RunTimeSimilarity together;
  Quantiles run_s;       // run times of jobs
  Quantiles batch_jobs;  // numbers of jobs of batches after their first job
  Quantiles limit_s;     // time limits of jobs; no knots: no job has a limit
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
  double share = 0;  // share of batches
  void fields(auto& f) {
    f("gpus", gpus, 0, INT32_MAX);
    f("share", share, 0.0, 1.0);
  }
};

// A random factor exp(x) on the rate of batches, where x is normal with this variance. The
// correlation of x with its value t hours later is exp(-t / hours).
struct RateFluctuation {
  double hours = 1, variance = 0;
  void fields(auto& f) {
    f("hours", hours, 0.01, 1e6);
    f("variance", variance, 0.0, 10.0);
  }
};

// What the jobs of a batch need besides GPUs, as one combination found in the trace.
struct JobRequirements {
  int32_t gpus = 0;
  double share = 0;  // share of the batches of this size
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
  // Mean number of batches by which a batch's owner looks back when it repeats a recent owner.
  static constexpr std::array<double, 4> kMemory = {1, 6, 36, 216};
  // Least duration, in hours, of swings of the arrival rate that also change how many jobs batches
  // have.
  static constexpr double kMinHoursOfSlowSwing = 24;
  static constexpr int kRecent = 8;  // number of latest siblings whose run time a job may repeat
  // Standard deviations of a repeated run time from the original, in log(1 + seconds).
  static constexpr std::array<double, 4> kRepeatSd = {0.002, 0.01, 0.05, 0.2};
  static constexpr int kLengths = 10;  // number of classes by run time, each a tenth of the jobs

  // Source.
  std::string source, format, sha256;  // name, format and hash of the trace
  double from_s = 0, to_s = 0;         // bounds of the fitted part of the trace
  int64_t jobs = 0;
  std::string owner = "nobody";  // owners of batches: "user", "tenant" or "nobody"
  double step_s = 1e-6;          // all times are whole multiples of step_s
  double mean_gpu_s = 0;         // mean GPU-seconds of a job

  // The times at which batches begin.
  std::string profile = "flat";  // detail of `week`: "flat", "hours" or "hours and weekdays"
  bool calendar = false;         // hour 0 is Monday 00:00 UTC; if false, the trace's time 0
  std::vector<double> week;      // relative rate of batches in each hour, with mean 1
  std::vector<RateFluctuation> swings;

  // After n batches by U owners, the next batch has a new owner with probability (newcomers +
  // growth U) / (newcomers + n). Other batches have the owner of a recent batch, or an owner drawn
  // by activity, which is log-normal over owners.
  double newcomers = 1, growth = 0;
  std::vector<double> memory;  // share of each distance in kMemory; the rest is drawn by activity
  double activity_sd = 0;
  // Share of users in each tenant; empty if there are no tenants, or if owners are not users.
  std::vector<double> tenants;

  // Sizes of jobs, and numbers of jobs in batches.
  std::vector<SizeShare> sizes;
  OwnerHabit size_habit;
  std::vector<SizeClass> classes;      // classes by rising size
  std::vector<JobRequirements> kinds;  // empty: all jobs need whole GPUs only
  OwnerHabit kind_habit;
  // Shares of the variance of a batch's number of jobs: of its owner, and of a level common to
  // batches of one time. The level's correlation over t hours is exp(-t / level_hours). The level
  // may correlate with the rate's swings of a day or longer (level_with_rate).
  double batch_jobs_owner = 0;
  double batch_jobs_level = 0, level_hours = 24;
  double level_with_rate = 0;  // correlation of the level with the rate's swings of a day or longer
  Quantiles gap_s;             // gaps between the jobs of a batch
  double gap_batch = 0;        // share of the gaps' variance that gaps of a batch have in common
  double gap_with_jobs = 0;    // correlation of a batch's gaps with its number of jobs

  // Time limits and final statuses of jobs.
  double limit_owner = 0;        // share of the limits' variance that jobs of an owner share
  double limit_with_run = 0;     // correlation of a batch's limit with its run times
  std::vector<double> limits_s;  // usual limits; empty: limits are whole minutes
  std::vector<double> timeouts;  // share of jobs that reach their limit, by class of run time
  std::vector<std::string> statuses;
  std::vector<double> status_shares;  // (kLengths, statuses)
};

struct SampleOptions {
  uint64_t seed = 1;
  int64_t jobs = 0;      // number of jobs; 0: as in the fitted part, or at its rate over `days`
  double days = 0;       // length of the trace; 0: as long as `jobs` take
  double load = 0;       // GPU time asked for over that of `cluster_gpus`; 0: as in the trace
  int cluster_gpus = 0;  // GPUs of the cluster, the largest size of a job; 0: no bound
};

// Returns generated jobs, sorted by submission. Equal models and options give equal jobs. Throws
// InputError if options contradict each other or the model.
std::vector<Job> sample_workload(const WorkloadModel& model, const SampleOptions& options);

// Throws InputError, beginning with `where`, if parts of the model contradict each other.
void check_workload_model(const WorkloadModel& model, const std::string& where);

// Returns the model as JSON, one item per line, rounded to 8 digits. Jobs are generated from the
// model in this text form, which people can read and edit.
std::string to_text(const WorkloadModel& model);

// Parses JSON or YAML. Throws InputError, with line and column in `name`, for bad syntax, a
// missing, unknown or repeated key, or a value of the wrong type, out of range or inconsistent.
WorkloadModel parse_workload_model(const std::string& text, const std::string& name);

// Revision of the sampler, to change whenever an unchanged model and seed generate different jobs.
constexpr const char* kSamplerRevision = "2";

}  // namespace yard
