// How long will this job still run, judged by what its user's finished jobs took? Online, from what
// was observed alone. Log run times of a user are taken as normal around a mean that is shrunk
// towards that of all users; the expected remaining time of a job that has run for a while is then
// the mean residual life of a log-normal.
// Times in log2 seconds. Dims: U users.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "env/base/check.h"
#include "env/base/log2.h"

namespace yard {

// g(u): log2 of the mean residual life over the median, u = log2(attained / median), tabulated once
// on the host:  MRL(a) = exp(m + s^2/2) Q((ln a - m - s^2)/s) / Q((ln a - m)/s) - a,  Q = 1 - Phi.
struct ResidualLife {
  static constexpr int kPoints = 97;  // u from -12 to 12 in steps of 1/4
  static constexpr float kFirst = -12, kStep = 0.25F;
  float g[kPoints];

  // Requires: sd > 0, of the natural logarithm.
  explicit ResidualLife(double sd) {
    const auto upper = [](double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); };
    for (int i = 0; i < kPoints; ++i) {
      const double u = (kFirst + kStep * static_cast<float>(i)) * std::log(2.0);
      const double a = std::exp(u);
      const double tail = upper(u / sd);
      // Far in the tail both Q underflow; there the residual life grows like s a / (u/s), Mills'
      // ratio.
      const double mrl = tail > 1e-200
                             ? std::exp(sd * sd / 2) * upper((u - sd * sd) / sd) / tail - a
                             : a * sd * sd / u;
      g[i] = static_cast<float>(std::log2(mrl));
    }
  }

  // Returns log2 of the expected remaining seconds. Requires: log2 seconds in.
  YARD_HD float log2_left(float log2_median, float log2_attained) const {
    const float at = (log2_attained - log2_median - kFirst) / kStep;
    if (at <= 0) return log2_median + g[0];
    if (at >= kPoints - 1) return log2_median + g[kPoints - 1] + (at - (kPoints - 1)) * kStep;
    const int i = static_cast<int>(at);
    const float part = at - static_cast<float>(i);
    return log2_median + g[i] + part * (g[i + 1] - g[i]);
  }
};

YARD_HD inline float log2_seconds(int64_t us) {
  return log2_coarse(static_cast<double>(us < 1'000'000 ? 1'000'000 : us) * 1e-6);
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
  float alive_weight;
  float alive_sum_log2;
  int64_t alive_submit_us;
};

// Columns over a policy's memory, which must be zero at first.
class UserHistory {
 public:
  static constexpr int32_t kNobody = -1;  // where the trace names no user

  YARD_HD static size_t bytes(int32_t num_users) {
    return (static_cast<size_t>(num_users) + 2) * sizeof(UserRecord) / 8 * 8 + 8;
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
    add(records_[0], log2_run);
    if (user == kNobody) return;
    UserRecord& own = records_[user + 1];
    add(own, log2_run);
    if (!in_batch(own, submit_us)) own.batch_jobs = own.batch_mean_log2 = 0;
    own.batch_jobs += 1;
    own.batch_mean_log2 += (log2_run - own.batch_mean_log2) / own.batch_jobs;
    own.batch_submit_us = submit_us;
    own.alive_weight = own.alive_sum_log2 = 0;  // or it would count twice
  }

  // Looks at every unfinished job that has run: it stands for an observation of its expected total
  // run time, with the weight of the probability that it would have finished by now (0 for one that
  // has hardly begun): a censored observation. `View`: env/sim/view.h.
  template <class View>
  YARD_HD void take_in_alive(const View& view, const ResidualLife& life, float shrink, float sd) {
    const auto each = [&](auto&& visit) {
      for (int32_t i = 0; i < view.num_held(); ++i) visit(view.held(i));
      int32_t scanned = 0;
      for (int32_t slot = view.queue_head(); slot != kNobody && scanned < kScanned;
           slot = view.queue_next(slot), ++scanned) {
        if (view.started(slot) > 0) visit(slot);
      }
    };
    for (int32_t user = 0; user < view.num_users(); ++user) {
      records_[user + 1].alive_weight = records_[user + 1].alive_sum_log2 = 0;
      records_[user + 1].alive_submit_us = -1;
    }
    each([&](int32_t slot) {
      const int32_t user = view.user(slot);
      if (user == kNobody) return;
      UserRecord& own = records_[user + 1];
      if (view.submit_us(slot) > own.alive_submit_us) own.alive_submit_us = view.submit_us(slot);
    });
    each([&](int32_t slot) {
      const int32_t user = view.user(slot);
      if (user == kNobody) return;
      UserRecord& own = records_[user + 1];
      if (own.alive_submit_us - view.submit_us(slot) >= kTogetherUs) return;  // an older batch
      const float attained = log2_seconds(view.attained_us(slot));
      const float median = log2_median(user, shrink);
      const float left = life.log2_left(median, attained);
      const auto total = static_cast<float>(exp2_coarse(attained) + exp2_coarse(left));
      const float weight = finished_share((attained - median) * 0.69314718F / sd);
      // In 2^-12: sums of such numbers are exact, whatever order the jobs come in.
      const float w = static_cast<float>(static_cast<int32_t>(weight * 4096)) / 4096;
      own.alive_weight += w;
      const auto sum = static_cast<int32_t>(w * log2_coarse(total) * 4096);
      own.alive_sum_log2 += static_cast<float>(sum) / 4096;
    });
  }

  // Was a job submitted then submitted together with the batch of the record?
  YARD_HD static bool in_batch(const UserRecord& own, int64_t submit_us) {
    const int64_t apart = submit_us - own.batch_submit_us;
    return own.batch_jobs > 0 && apart < kTogetherUs && apart > -kTogetherUs;
  }

  YARD_HD UserRecord record(int32_t user) const {
    return user == kNobody ? UserRecord{} : records_[user + 1];
  }

  // Returns the median of a job that has not run, in log2 seconds. `shrink`: how many jobs of all
  // users the prior is worth.
  YARD_HD float log2_median(int32_t user, float shrink) const {
    constexpr float kPrior = 11.8F;  // an hour, before anything has finished
    const UserRecord& all = records_[0];
    const float prior = (all.jobs * all.mean_log2 + 4 * kPrior) / (all.jobs + 4);
    const UserRecord own = record(user);
    return (own.jobs * own.mean_log2 + shrink * prior) / (own.jobs + shrink);
  }

  // The same, knowing when the job was submitted: its siblings count too, finished and alive ones,
  // and what the user does otherwise is worth `sibling_prior` of them.
  YARD_HD float log2_median(int32_t user, float shrink, int64_t submit_us,
                            float sibling_prior) const {
    const UserRecord own = record(user);
    float weight = sibling_prior, sum = sibling_prior * log2_median(user, shrink);
    if (in_batch(own, submit_us)) {
      weight += own.batch_jobs;
      sum += own.batch_jobs * own.batch_mean_log2;
    }
    const int64_t apart = submit_us - own.alive_submit_us;
    if (own.alive_weight > 0 && apart < kTogetherUs && apart > -kTogetherUs) {
      weight += own.alive_weight;
      sum += own.alive_sum_log2;
    }
    return sum / weight;
  }

 private:
  // Old jobs fade: a user's habits drift, so a record weighs at most this many jobs.
  static constexpr float kMostJobs = 32;
  static constexpr int64_t kTogetherUs = 600'000'000;  // siblings are submitted within ten minutes
  static constexpr int32_t kScanned = 1024;            // of the queue, from its head

  // The standard normal distribution function, to 1 % (a logistic curve).
  YARD_HD static float finished_share(float z) {
    const float bounded = z < -8 ? -8 : z > 8 ? 8 : z;
    return static_cast<float>(1 / (1 + exp2_coarse(-1.702 * 1.44269504 * bounded)));
  }

  YARD_HD static void add(UserRecord& r, float log2_run) {
    r.jobs = r.jobs + 1 < kMostJobs ? r.jobs + 1 : kMostJobs;
    r.mean_log2 += (log2_run - r.mean_log2) / r.jobs;
  }

  UserRecord* records_;  // (1 + U)
};

}  // namespace yard
