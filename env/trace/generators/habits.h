// The generator `synthetic:habits`: users that arrive by hour and weekday, submit batches of
// similar jobs, and have typical run times and sizes.
//
// log(run time) = log(median) + user + batch + job, where the last three terms are independent and
// normal. All jobs of a user share the user's term, and all jobs of a batch, which are submitted
// within minutes, share the batch's term. A user's finished jobs, and running jobs of the same
// batch, therefore predict a part of a job's run time.
#pragma once

#include <vector>

#include "env/trace/generators/generator_common.h"

namespace yard {

// Sources of the values: "TACC" is the Lonestar6 A100 log (Ding et al., SC 2023), "ITP" the
// Microsoft ITP logs of 2021 (released with ElasticFlow, ASPLOS 2023), "Philly" the log of Jeon et
// al. (ATC 2019). Each is measured on the first 60 % of a log. A "chosen" value has no source.
struct UserHabitJobsParams {
  static constexpr const char* kRevision = "1";
  // Size.
  int jobs = 4000;         // chosen: about two weeks on 128 GPUs
  int cluster_gpus = 128;  // chosen: 16 nodes of 8 GPUs
  double load = 0.90;      // chosen: the mean wait under `greedy` is 2 to 3 times the mean run time

  // Relative rates at which batches begin, by hour of day and by weekday, normalised over the week.
  // Source: submissions in TACC. Time 0 of the trace is Monday 00:00.
  std::vector<double> hours = {0.71, 0.52, 0.45, 0.35, 0.34, 0.35, 0.28, 0.55,
                               0.91, 1.23, 1.47, 1.83, 1.52, 1.58, 1.75, 1.71,
                               1.70, 1.16, 1.04, 1.08, 0.74, 1.04, 0.84, 0.86};
  std::vector<double> weekdays = {1.25, 1.27, 1.12, 1.04, 0.87, 0.60, 0.85};

  // The r-th most active user submits jobs in proportion to r^-activity_exponent.
  int users = 40;                   // chosen: a group of users that shares 128 GPUs
  double activity_exponent = 0.65;  // TACC: fitted to the 60 most active users
  double batch_jobs = 3.0;          // mean (geometric); ITP 02: 3.0 jobs of a size within 5 minutes
  double sibling_gap_s = 60;        // mean (exponential); ITP 02, 05 and 08: 52 to 65 s

  // Shares of batches by the GPUs of their jobs. Source: Philly, virtual cluster ee9e8c.
  double share_1 = 0.38, share_2 = 0.05, share_4 = 0.21, share_8 = 0.31, share_16 = 0.05;
  double own_size_share = 0.6;  // chosen: share of batches of the user's favourite size

  // Standard deviations of log run time: 1.6 in total and 1.1 within a user, chosen between ITP
  // (1.1 to 1.4 in total) and TACC (2.4 in total, 1.9 within a user).
  double median_s = 2400;  // chosen: the mean is about two hours; Philly's median is 1,521 s
  double log_sd_user = 1.16;
  double log_sd_batch = 0.88;  // chosen: run times of a user's siblings correlate 0.64, as in TACC
  double log_sd_job = 0.66;
  double shortest_s = 60;     // chosen: lower bound of run times
  double longest_s = 432000;  // chosen: upper bound of run times, five days

  void fields(auto& f) {
    f("jobs", jobs, 1, 10'000'000, "number of jobs");
    f("cluster_gpus", cluster_gpus, 1, 1 << 26, "GPUs of the cluster that `load` refers to");
    f("load", load, 0.01, 10.0, "GPU time asked for divided by GPU time offered");
    f("hours", hours, "relative arrivals in each of the 24 hours of a day");
    f("weekdays", weekdays, "relative arrivals on each of the 7 days from Monday");
    f("users", users, 1, 100'000, "number of users");
    f("activity_exponent", activity_exponent, 0.0, 4.0,
      "exponent x: the r-th most active user submits in proportion to r^-x");
    f("batch_jobs", batch_jobs, 1.0, 1000.0, "mean number of jobs submitted together");
    f("sibling_gap_s", sibling_gap_s, 0.0, 86400.0,
      "mean time between jobs of a batch, in seconds");
    f("share_1", share_1, 0.0, 1.0, "share of batches with jobs of 1 GPU");
    f("share_2", share_2, 0.0, 1.0, "share of batches with jobs of 2 GPUs");
    f("share_4", share_4, 0.0, 1.0, "share of batches with jobs of 4 GPUs");
    f("share_8", share_8, 0.0, 1.0, "share of batches with jobs of 8 GPUs");
    f("share_16", share_16, 0.0, 1.0, "share of batches with jobs of 16 GPUs");
    f("own_size_share", own_size_share, 0.0, 1.0,
      "share of batches with the user's preferred size");
    f("median_s", median_s, 1.0, 1e7, "median run time before clipping, in seconds");
    f("log_sd_user", log_sd_user, 0.0, 5.0, "standard deviation of log run time between users");
    f("log_sd_batch", log_sd_batch, 0.0, 5.0,
      "standard deviation of log run time between batches of a user");
    f("log_sd_job", log_sd_job, 0.0, 5.0,
      "standard deviation of log run time between jobs of a batch");
    f("shortest_s", shortest_s, 1.0, 1e8, "shortest run time, in seconds");
    f("longest_s", longest_s, 1.0, 1e8, "longest run time, in seconds");
  }
};

// Generates the jobs of `synthetic:habits`. No job asks for more GPUs than the cluster has.
std::vector<Job> generate_user_habit_jobs(const UserHabitJobsParams& params,
                                          const GenerateOptions& options);

}  // namespace yard
