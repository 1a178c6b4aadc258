// How long will this job still run, judged by what its user's finished jobs took? Online, from what
// was observed alone. Log run times of a user are taken as normal around a mean that is shrunk
// towards that of all users; the expected remaining time of a job that has run for a while is then
// the mean residual life of a log-normal.
// Times in log2 seconds. Dims: U users.
#pragma once

#include <cstddef>
#include <cstdint>

#include "env/base/check.h"
#include "env/base/log2.h"
#include "env/predict/run_times.h"

namespace yard {

YARD_HD inline float log2_seconds(int64_t us) {
  return us <= 1'000'000 ? 0 : log2_coarse(static_cast<double>(us) * 1e-6);
}

// What is remembered of one user, and in row 0 of all of them.
struct UserRecord {
  float jobs;       // finished so far
  float mean_log2;  // of their run times
  // The batch that a job of hers finished last: jobs submitted within minutes of each other, which
  // resemble one another more than her other jobs (in ITP's logs their log run times correlate .8).
  float batch_jobs;
  float batch_mean_log2;
  int64_t batch_submit_us;  // when its member that finished last was submitted
  // The batch of hers that was submitted last of those that have run: jobs that have not finished
  // yet say that the batch is at least so long. Made anew at every decision.
  int32_t alive_weight;    // in 2^-12, so that sums are exact whatever order the jobs come in
  int64_t alive_sum_log2;  // in 2^-12
  int64_t alive_submit_us;
  // The decision point that the lines above are of, and her median then, her siblings aside.
  int32_t asked_at;
  float median_log2;
  float unknown;  // how much all users' jobs count in it, 0 to 1
};

// Columns over a policy's memory, which must be zero at first.
class UserHistory {
 public:
  static constexpr int32_t kNobody = -1;  // where the trace names no user

  YARD_HD static size_t bytes(int32_t num_users) {
    return (static_cast<size_t>(num_users) + 2) * sizeof(UserRecord) / 8 * 8 + 8;
  }

  // `View`: env/sim/view.h.
  template <class View>
  YARD_HD static size_t bytes(const View& view) {
    return bytes(view.num_users());
  }

  YARD_HD explicit UserHistory(std::byte* memory)
      : records_(reinterpret_cast<UserRecord*>(memory)) {}

  // Learns from every job that finished since the last decision. `View`: env/sim/view.h.
  template <class View>
  YARD_HD void take_in_changed(const View& view) {
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      const int32_t slot = view.changed(i);
      if (!view.finished(slot)) continue;
      observe(view.user(slot), view.submit_us(slot), log2_seconds(view.attained_us(slot)));
    }
  }

  // A job of `user` finished after so long.
  YARD_HD void observe(int32_t user, int64_t submit_us, float log2_run) {
    UserRecord& all = records_[0];
    add(all, log2_run);
    all.median_log2 = (all.jobs * all.mean_log2 + 4 * kPrior) / (all.jobs + 4);
    if (user == kNobody) return;
    UserRecord& own = records_[user + 1];
    add(own, log2_run);
    if (!in_batch(own, submit_us)) own.batch_jobs = own.batch_mean_log2 = 0;
    own.batch_jobs += 1;
    own.batch_mean_log2 += (log2_run - own.batch_mean_log2) / own.batch_jobs;
    own.batch_submit_us = submit_us;
  }

  // What follows is worked out anew at every decision point, for the users of the jobs that matter
  // in it: first ask() for each of them, then take_in_alive(), then expect().

  // `point`: a number that no earlier decision point had, not 0. `shrink`: how many jobs of all
  // users the prior is worth.
  YARD_HD void ask(int32_t user, int32_t point, float shrink) {
    UserRecord& own = records_[user + 1];  // row 0 stands for nobody: it has no siblings
    asked_ |= uint64_t{1} << (user & 63);
    own.asked_at = point;
    own.alive_weight = 0;
    own.alive_sum_log2 = 0;
    own.alive_submit_us = INT64_MIN;
    own.unknown = user == kNobody ? 1 : shrink / (own.jobs + shrink);
    own.median_log2 = log2_median(user, shrink);
  }

  // Looks at the unfinished jobs that have run: each stands for an observation of its expected
  // total run time, with the weight of the probability that it would have finished by now (0 for
  // one that has hardly begun): a censored observation. `ran` calls its argument with the slot of
  // every job that has run; jobs of users that nobody asked for are passed over. `scratch`: room
  // for as many slots. `View`: env/sim/view.h.
  template <class View, class Ran>
  YARD_HD void take_in_alive(const View& view, const ResidualLife& life, int32_t point,
                             int32_t* scratch, const Ran& ran) {
    int32_t n = 0;
    ran([&](int32_t slot) {
      scratch[n] = slot;
      n += static_cast<int32_t>(asked_ >> (view.user(slot) & 63) & 1);
    });
    int32_t m = 0;
    for (int32_t i = 0; i < n; ++i) {
      const int32_t slot = scratch[i];
      const int32_t user = view.user(slot);
      UserRecord& own = records_[user + 1];
      const bool matters =
          (own.asked_at == point) & (user != kNobody) & (view.attained_us(slot) > 0);
      const int64_t submit_us = view.submit_us(slot);
      scratch[m] = slot;
      m += matters;
      const int64_t latest = submit_us > own.alive_submit_us ? submit_us : own.alive_submit_us;
      own.alive_submit_us = matters ? latest : own.alive_submit_us;
    }
    for (int32_t i = 0; i < m; ++i) {
      const int32_t slot = scratch[i];
      UserRecord& own = records_[view.user(slot) + 1];
      if (own.alive_submit_us - view.submit_us(slot) >= int64_t{kTogetherUs}) {
        continue;  // an older batch
      }
      const float attained = log2_seconds(view.attained_us(slot));
      const auto at = ResidualLife::at(own.median_log2, attained);
      const float total = own.median_log2 + ResidualLife::read(life.total, at) + at.beyond;
      const float weight = ResidualLife::read(life.finished, at);
      own.alive_weight += static_cast<int32_t>(weight * kWhole);
      own.alive_sum_log2 += static_cast<int32_t>(weight * total * kWhole);
    }
  }

  struct Expectation {
    float log2_median;    // seconds
    float siblings;       // how many observations they are
    float batch_unknown;  // how much the user's other jobs count beside them, 0 to 1
    float user_unknown;   // how much all users' jobs count beside hers, 0 to 1
  };

  // Returns what to expect of a job submitted then: its siblings count too, finished and alive
  // ones, and what the user does otherwise is worth `sibling_prior` of them. Requires: ask() for
  // the user at this decision point.
  YARD_HD Expectation expect(int32_t user, int64_t submit_us, float sibling_prior) const {
    const UserRecord& own = records_[user + 1];
    // Products instead of branches: whose siblings count is anyone's guess.
    const float finished = own.batch_jobs * as_float(together(submit_us, own.batch_submit_us));
    const float beside = as_float(together(submit_us, own.alive_submit_us));
    const float sum =
        finished * own.batch_mean_log2 + beside * static_cast<float>(own.alive_sum_log2) / kWhole;
    const float weight = finished + beside * static_cast<float>(own.alive_weight) / kWhole;
    const float scale = 1 / (weight + sibling_prior);
    const float unknown = sibling_prior * scale;
    return {sum * scale + unknown * own.median_log2, weight, unknown, own.unknown};
  }

  // Was a job submitted then submitted together with the batch of the record?
  YARD_HD static bool in_batch(const UserRecord& own, int64_t submit_us) {
    return own.batch_jobs > 0 && together(submit_us, own.batch_submit_us);
  }

  // Requires: not kNobody.
  YARD_HD const UserRecord& record(int32_t user) const { return records_[user + 1]; }

  // Returns the median of a job that has not run, in log2 seconds, her siblings aside.
  YARD_HD float log2_median(int32_t user, float shrink) const {
    const float prior = log2_prior();
    if (user == kNobody) return prior;
    const UserRecord& own = record(user);
    const float unknown = shrink / (own.jobs + shrink);
    return unknown * prior + (1 - unknown) * own.mean_log2;
  }

 private:
  static constexpr float kWhole = 4096;
  static constexpr float kPrior = 11.8F;  // an hour, before anything has finished
  // Old jobs fade: a user's habits drift, so a record weighs at most this many jobs.
  static constexpr float kMostJobs = 32;
  static constexpr uint64_t kTogetherUs = 600'000'000;  // siblings are submitted within ten minutes

  YARD_HD float log2_prior() const {
    return records_[0].jobs > 0 ? records_[0].median_log2 : kPrior;
  }

  YARD_HD static bool together(int64_t a_us, int64_t b_us) {
    const uint64_t apart_us = static_cast<uint64_t>(a_us) - static_cast<uint64_t>(b_us);
    return apart_us + (kTogetherUs - 1) < 2 * kTogetherUs - 1;  // wraps: -k < apart < k
  }

  YARD_HD static float as_float(bool b) { return static_cast<float>(static_cast<int>(b)); }

  YARD_HD static void add(UserRecord& r, float log2_run) {
    r.jobs = r.jobs + 1 < kMostJobs ? r.jobs + 1 : kMostJobs;
    r.mean_log2 += (log2_run - r.mean_log2) / r.jobs;
  }

  UserRecord* records_;  // (1 + U)
  // By user modulo 64: a 0 says that nobody asked for her, without a look at her record.
  uint64_t asked_ = 0;
};

}  // namespace yard
