// Remaining run time of a job, predicted online from the finished jobs of its user: the mean
// residual life of a log-normal distribution (run_times.h), whose median is shrunk towards the
// median of all users. Times are in log2 seconds. Dims: U users.
#pragma once

#include <cstddef>
#include <cstdint>

#include "env/base/core/check.h"
#include "env/base/core/log2.h"
#include "env/predict/run_times.h"
#include "env/sim/view/view.h"

namespace yard {

YARD_HD inline float log2_seconds(int64_t us) {
  return us <= 1'000'000 ? 0 : log2_coarse(static_cast<double>(us) * 1e-6);
}

// Statistics of the jobs of one user, or of all users in row 0.
struct UserRecord {
  float jobs;       // number of jobs finished so far, at most kMaxJobs
  float mean_log2;  // mean of the log2 run times of finished jobs
  // The batch (jobs submitted within minutes of each other) of the job that finished last.
  float batch_jobs;
  float batch_mean_log2;
  int64_t batch_submit_us;  // submission of the batch's job that finished last
  // The user's latest submitted batch with unfinished jobs that have run, recomputed every time.
  int32_t alive_weight;    // in units of 2^-12, so that sums do not depend on the order of jobs
  int64_t alive_sum_log2;  // sum in units of 2^-12
  int64_t alive_submit_us;
  // Number of the decision at which this batch was computed, and the user's median at that
  // decision, without siblings.
  int32_t prepared_at;
  float median_log2;
  float unknown;  // weight of all users' jobs in the median, 0 to 1
};

// View of a policy's memory, which must be filled with zeros before the first decision.
class UserHistory {
 public:
  static constexpr int32_t kNoUser = -1;  // the trace names no user

  YARD_HD static size_t bytes(int32_t num_users) {
    return (static_cast<size_t>(num_users) + 2) * sizeof(UserRecord) / 8 * 8 + 8;
  }

  YARD_HD static size_t bytes(const View& view) { return bytes(view.num_users()); }

  YARD_HD explicit UserHistory(std::byte* memory)
      : records_(reinterpret_cast<UserRecord*>(memory)) {}

  // Learns from every job that finished since the last decision.
  YARD_HD void learn_finished(const View& view) {
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      const int32_t slot = view.changed_slot(i);
      if (!view.ended_after_running(slot)) continue;
      observe(view.user(slot), view.submit_us(slot), log2_seconds(view.attained_us(slot)));
    }
  }

  // Records that a job of `user` finished after a run time of `log2_run`.
  YARD_HD void observe(int32_t user, int64_t submit_us, float log2_run) {
    UserRecord& all = records_[0];
    add(all, log2_run);
    all.median_log2 = (all.jobs * all.mean_log2 + 4 * kPrior) / (all.jobs + 4);
    if (user == kNoUser) return;
    UserRecord& own = records_[user + 1];
    add(own, log2_run);
    const bool in_batch = own.batch_jobs > 0 && same_batch(submit_us, own.batch_submit_us);
    if (!in_batch) own.batch_jobs = own.batch_mean_log2 = 0;
    own.batch_jobs += 1;
    own.batch_mean_log2 += (log2_run - own.batch_mean_log2) / own.batch_jobs;
    own.batch_submit_us = submit_us;
  }

  // Must be called at every decision: prepare() for each user, then add_unfinished(), then
  // predict(). `decision_number` is a non-zero number of the decision, new at every decision.
  // `shrink` is the number of jobs that the prior counts for.
  YARD_HD void prepare(int32_t user, int32_t decision_number, float shrink) {
    UserRecord& own = records_[user + 1];  // row 0: jobs without a user, which have no siblings
    prepared_ |= uint64_t{1} << (user & 63);
    own.prepared_at = decision_number;
    own.alive_weight = 0;
    own.alive_sum_log2 = 0;
    own.alive_submit_us = INT64_MIN;
    own.unknown = user == kNoUser ? 1 : shrink / (own.jobs + shrink);
    own.median_log2 = log2_median(user, shrink);
  }

  // Adds the unfinished jobs that have run, as censored observations: each counts as its expected
  // total run time, weighted by the probability that it would have ended by now. `ran` calls its
  // argument with the slot of every job that has run. Jobs of users without prepare() are skipped.
  // `scratch` has room for the slots.
  template <class Ran>
  YARD_HD void add_unfinished(const View& view, const ResidualLife& life, int32_t decision_number,
                              int32_t* scratch, const Ran& ran) {
    int32_t n = 0;
    ran([&](int32_t slot) {
      scratch[n] = slot;
      n += static_cast<int32_t>(prepared_ >> (view.user(slot) & 63) & 1);
    });
    int32_t m = 0;
    for (int32_t i = 0; i < n; ++i) {
      const int32_t slot = scratch[i];
      const int32_t user = view.user(slot);
      UserRecord& own = records_[user + 1];
      const bool matters =
          (own.prepared_at == decision_number) & (user != kNoUser) & (view.attained_us(slot) > 0);
      const int64_t submit_us = view.submit_us(slot);
      scratch[m] = slot;
      m += matters;
      const int64_t latest = submit_us > own.alive_submit_us ? submit_us : own.alive_submit_us;
      own.alive_submit_us = matters ? latest : own.alive_submit_us;
    }
    for (int32_t i = 0; i < m; ++i) {
      const int32_t slot = scratch[i];
      UserRecord& own = records_[view.user(slot) + 1];
      // Skips jobs of an older batch.
      if (own.alive_submit_us - view.submit_us(slot) >= int64_t{kBatchGapUs}) continue;
      const float attained = log2_seconds(view.attained_us(slot));
      const auto at = ResidualLife::at(own.median_log2, attained);
      const float total = own.median_log2 + ResidualLife::read(life.total, at) + at.beyond;
      const float weight = ResidualLife::read(life.finished, at);
      own.alive_weight += static_cast<int32_t>(weight * kWhole);
      own.alive_sum_log2 += static_cast<int32_t>(weight * total * kWhole);
    }
  }

  struct Prediction {
    float log2_median;    // median of run times, in log2 seconds
    float siblings;       // number of observations of siblings
    float batch_unknown;  // weight of the user's other jobs, 0 to 1
    float user_unknown;   // weight of all users' jobs in the user's median, 0 to 1
  };

  // Returns the prediction for a job submitted at `submit_us`, from its siblings. The user's other
  // jobs together weigh as much as `sibling_prior` siblings. Requires: prepare() was called for the
  // user.
  YARD_HD Prediction predict(int32_t user, int64_t submit_us, float sibling_prior) const {
    const UserRecord& own = records_[user + 1];
    // Products instead of branches: whether siblings count is unpredictable.
    const float finished = own.batch_jobs * as_float(same_batch(submit_us, own.batch_submit_us));
    const float unfinished = as_float(same_batch(submit_us, own.alive_submit_us));
    const float sum = finished * own.batch_mean_log2 +
                      unfinished * static_cast<float>(own.alive_sum_log2) / kWhole;
    const float weight = finished + unfinished * static_cast<float>(own.alive_weight) / kWhole;
    const float scale = 1 / (weight + sibling_prior);
    const float unknown = sibling_prior * scale;
    return {sum * scale + unknown * own.median_log2, weight, unknown, own.unknown};
  }

  // Requires: `user` is not kNoUser.
  YARD_HD const UserRecord& record(int32_t user) const { return records_[user + 1]; }

  // Returns the median in log2 seconds of a job of `user` that has not run, without siblings.
  YARD_HD float log2_median(int32_t user, float shrink) const {
    const float prior = records_[0].jobs > 0 ? records_[0].median_log2 : kPrior;
    if (user == kNoUser) return prior;
    const UserRecord& own = record(user);
    const float unknown = shrink / (own.jobs + shrink);
    return unknown * prior + (1 - unknown) * own.mean_log2;
  }

 private:
  static constexpr float kWhole = 4096;
  static constexpr float kPrior = 11.8F;  // log2 of an hour, used before any job has finished
  // A user's habits drift, so that a record counts for at most kMaxJobs jobs.
  static constexpr float kMaxJobs = 32;
  static constexpr uint64_t kBatchGapUs = 600'000'000;  // siblings are submitted within ten minutes

  YARD_HD static bool same_batch(int64_t a_us, int64_t b_us) {
    const uint64_t apart_us = static_cast<uint64_t>(a_us) - static_cast<uint64_t>(b_us);
    return apart_us + (kBatchGapUs - 1) <
           2 * kBatchGapUs - 1;  // unsigned, wraps: whether -kBatchGapUs < a - b < kBatchGapUs
  }

  YARD_HD static float as_float(bool b) { return static_cast<float>(static_cast<int>(b)); }

  YARD_HD static void add(UserRecord& r, float log2_run) {
    r.jobs = r.jobs + 1 < kMaxJobs ? r.jobs + 1 : kMaxJobs;
    r.mean_log2 += (log2_run - r.mean_log2) / r.jobs;
  }

  UserRecord* records_;  // (1 + U)
  // If bit (user modulo 64) is 0, prepare() was called for no such user and the record is not read.
  uint64_t prepared_ = 0;
};

}  // namespace yard
