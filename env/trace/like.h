// A workload like a recorded one: what was fitted to a part of a trace, as numbers that can be
// written, read and changed, and the jobs that follow from them. No row of the trace is in it.
//
//   LikeModel model = fit_like(jobs, {.from_us = 0, .to_us = span_us});  // env/trace/fit.h
//   std::vector<Job> jobs = generate_like(model, {.seed = 7, .jobs = 4000});
//
// docs/generator.md has the equations and how near they come to real traces.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "env/trace/job.h"
#include "env/trace/quantiles.h"

namespace yard {

// How the next of something follows from those of the same owner before it: the last again, any
// earlier one again, or else one by its share in the whole trace.
struct Habit {
  double last = 0, own = 0;
  template <class F>
  void fields(F& f) {
    f("last", last, 0.0, 1.0);
    f("own", own, 0.0, 1.0);
  }
};

// What run times of one class of sizes have in common.
struct Together {
  // Shares of the variance of a job's normal score; its own is the rest.
  double owner = 0, batch = 0;
  double stay = 0;            // correlation of the batch part with that of the batch before
  double repeat_sibling = 0;  // share of jobs that repeat one of their last siblings,
  double repeat_last = 0;     // of which these repeat the very last
  double repeat_batch = 0;    // share of batches that begin with a job of the batch before
  std::vector<double> apart;  // share of each of LikeModel::kApart among the repeated
  template <class F>
  void fields(F& f) {
    f("owner", owner, 0.0, 1.0);
    f("batch", batch, 0.0, 1.0);
    f("stay", stay, 0.0, 1.0);
    f("repeat_sibling", repeat_sibling, 0.0, 1.0);
    f("repeat_last", repeat_last, 0.0, 1.0);
    f("repeat_batch", repeat_batch, 0.0, 1.0);
    f("apart", apart, 0.0, 1.0);
  }
};

// Jobs of neighbouring sizes that share distributions, since each size alone has few jobs.
struct SizeClass {
  int32_t most_gpus = 0;  // of its jobs; the least is one above the class before it
  int64_t jobs = 0;       // fitted on
  Together together;
  Quantiles run_s;       // over jobs
  Quantiles batch_jobs;  // over batches: jobs beside the first
  Quantiles limit_s;     // over jobs that have one; no knots: none has
  template <class F>
  void fields(F& f) {
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
  template <class F>
  void fields(F& f) {
    f("gpus", gpus, 0, INT32_MAX);
    f("share", share, 0.0, 1.0);
  }
};

// The rate of batches goes up and down by exp(x), x normal with this variance; what is left of a
// swing after t hours is exp(-t / hours).
struct Swing {
  double hours = 1;
  double variance = 0;
  template <class F>
  void fields(F& f) {
    f("hours", hours, 0.01, 1e6);
    f("variance", variance, 0.0, 10.0);
  }
};

// What the jobs of a batch need besides GPUs, as it occurred together.
struct Kind {
  int32_t gpus = 0;
  double share = 0;  // of the batches of this size
  std::string model;
  int32_t batch_size = 0;
  double iteration_ms = 0;
  std::vector<std::string> gpu_types;
  std::vector<RoleGroup> groups;
  template <class F>
  void fields(F& f) {
    f("gpus", gpus, 0, INT32_MAX);
    f("share", share, 0.0, 1.0);
    f("model", model);
    f("batch_size", batch_size, 0, INT32_MAX);
    f("iteration_ms", iteration_ms, 0.0, 1e12);
    f("gpu_types", gpu_types);
    f("groups", groups);
  }
};

struct LikeModel {
  static constexpr size_t kWeekHours = 168;
  // Of batches: how far back "some recent batch" lies, on the average.
  static constexpr std::array<double, 4> kMemory = {1, 6, 36, 216};
  static constexpr double kSlowHours = 24;  // swings so long or longer move numbers of jobs, too
  static constexpr int kRecent = 8;         // siblings that a job may repeat
  // How far apart, in log(1 + seconds), a job and its repetition lie: standard deviations.
  static constexpr std::array<double, 4> kApart = {0.002, 0.01, 0.05, 0.2};
  static constexpr int kLengths = 10;  // classes of run time, by tenths of the jobs

  // Where it comes from.
  std::string source, format, sha256;  // of the trace
  double from_s = 0, to_s = 0;         // the part of it that was fitted
  int64_t jobs = 0;
  std::string owner = "nobody";  // whom batches are counted by: "user", "tenant" or "nobody"
  double step_s = 1e-6;          // times are whole multiples of it
  double mean_gpu_s = 0;         // GPU time that a job asked for

  // When batches begin.
  std::string profile = "flat";  // what `week` knows: "flat", "hours" or "hours and weekdays"
  bool calendar = false;         // hour 0 is Monday 00:00 UTC; else the zero of the trace's clock
  std::vector<double> week;      // relative rate in each hour, mean 1
  std::vector<Swing> swings;

  // Who begins them. After n batches by U owners the next is a newcomer's with the probability
  // (newcomers + growth U) / (newcomers + n); else it is the owner's of some recent batch, or one
  // picked by activity, which is log-normal over owners.
  double newcomers = 1, growth = 0;
  std::vector<double> memory;  // share of each of kMemory; the rest goes by activity
  double activity_sd = 0;
  std::vector<double> tenants;  // share of users at home in each; empty: no tenants, or they own

  // What for.
  std::vector<SizeShare> sizes;
  Habit size_habit;
  std::vector<SizeClass> classes;  // by rising size
  std::vector<Kind> kinds;         // empty: whole GPUs and nothing else
  Habit kind_habit;
  // Shares of the variance of a batch's number of jobs: its owner's, and that of a level which
  // batches of one time share. What is left of it after t hours is exp(-t / hours); a part of it,
  // which may be all, is how high the swings of a day and longer stand.
  double batch_jobs_owner = 0;
  double batch_jobs_level = 0, level_hours = 24;
  double level_with_rate = 0;  // correlation with those swings
  Quantiles gap_s;             // between jobs of a batch
  double gap_batch = 0;        // share of the variance of its score
  double gap_with_jobs = 0;    // correlation of that part with the batch's number of jobs

  // What else the trace says.
  double limit_owner = 0;        // share of the variance of a limit's score
  double limit_with_run = 0;     // correlation of a batch's limit with its jobs' length
  std::vector<double> limits_s;  // the usual ones; empty: whole minutes
  std::vector<double> timeouts;  // share of jobs that run into theirs, by kLengths; may be empty
  std::vector<std::string> statuses;
  std::vector<double> status_shares;  // (kLengths, statuses)
};

struct LikeOptions {
  uint64_t seed = 1;
  int64_t jobs = 0;      // 0: as many as in the fitted part, or in `days`
  double days = 0;       // 0: as long as `jobs` take
  double load = 0;       // GPU time asked for over that of `cluster_gpus`; 0: as in the trace
  int cluster_gpus = 0;  // no larger jobs; 0: any
};

// Returns jobs sorted by submission, the same for the same model and options. Throws InputError for
// options that contradict each other or the model.
std::vector<Job> generate_like(const LikeModel& model, const LikeOptions& options);

// Throws InputError, beginning with `where`, for a model whose parts do not fit together.
void check_like(const LikeModel& model, const std::string& where);

// Raise it with every change of what the same model and seed generate.
constexpr const char* kLikeRevision = "2";

}  // namespace yard
