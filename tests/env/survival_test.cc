// What the predictor learns online, against a slow reference that keeps every job's history and
// adds it up anew; and that it learns from those who still run.
#include "env/predict/survival.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "env/predict/rolling_estimate.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

constexpr int32_t kBins = TimeBins::kBins;
const SurvivalWeights kWeights;

// All that was seen of one job, by its place in the trace.
struct Seen {
  int64_t submit_us = 0, attained_us = 0;
  int32_t user = 0, gpus = 0;
  int32_t ended_as = 0;  // 1 for the first to end
};

struct Reference {
  std::map<int32_t, Seen> jobs;
  std::map<int32_t, int32_t> bins;  // that each has passed
  std::vector<int32_t> ended;       // in the order of their ends

  void follow(const View& view) {
    const auto see = [&](int32_t slot, bool ends) {
      const int32_t j = view.serial(slot);
      Seen& seen = jobs[j];
      seen = {view.submit_us(slot), view.attained_us(slot), view.user(slot), view.gpus(slot),
              seen.ended_as};
      while (seen.attained_us >= edge_us(bins[j] + 1)) ++bins[j];
      if (!ends) return;
      ended.push_back(j);
      seen.ended_as = static_cast<int32_t>(ended.size());
    };
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      if (view.finished(view.changed(i))) see(view.changed(i), true);
    }
    for (int32_t i = 0; i < view.num_held(); ++i) see(view.held(i), false);
  }

  static int64_t edge_us(int32_t bin) {
    return static_cast<int64_t>(exp2_coarse(TimeBins::log2_begin(bin)) * 1e6);
  }

  // Jobs of the row that ended later make one that has ended count for less.
  template <class Of>
  void add_up(const Of& of, double keep, std::vector<double>& exposed, std::vector<double>& ends) {
    exposed.assign(kBins, 0);
    ends.assign(kBins, 0);
    for (const auto& [j, job] : jobs) {
      if (!of(job)) continue;
      const auto last = static_cast<size_t>(bins.at(j));
      double weight = 1;
      if (job.ended_as != 0) {
        for (size_t i = static_cast<size_t>(job.ended_as); i < ended.size(); ++i) {
          weight *= of(jobs.at(ended[i])) ? keep : 1;
        }
        exposed[last] += weight;
        ends[last] += weight;
      }
      for (size_t b = 0; b < last; ++b) exposed[b] += weight;
    }
  }

  std::vector<double> hazards(const Seen& job, bool siblings) {
    std::vector<double> exposed, ends, out(kBins);
    add_up([](const Seen&) { return true; }, 1 - 1.0 / 8192, exposed, ends);
    for (size_t b = 0; b < kBins; ++b) out[b] = (ends[b] + 3 * 0.15) / (exposed[b] + 3);
    const auto blend = [&](double worth) {
      for (size_t b = 0; b < kBins; ++b) {
        out[b] = (ends[b] + worth * out[b]) / (exposed[b] + worth);
      }
    };
    add_up([&](const Seen& o) { return job_size(o.gpus) == job_size(job.gpus); }, 1 - 1.0 / 2048,
           exposed, ends);
    blend(10);
    if (!siblings) return out;
    add_up([&](const Seen& o) { return job_size(o.gpus) == job_size(job.gpus); }, 1 - 1.0 / 32,
           exposed, ends);
    blend(kWeights.size_worth);
    add_up([&](const Seen& o) { return o.user == job.user; }, 1 - 1.0 / 64, exposed, ends);
    blend(kWeights.recent_worth);
    exposed.assign(kBins, 0), ends.assign(kBins, 0);
    const int32_t from = TimeBins::of_us(job.attained_us);
    for (const auto& [j, other] : jobs) {
      if (other.user != job.user || other.gpus != job.gpus || &other == &job) continue;
      const double apart_s = std::abs(static_cast<double>(other.submit_us - job.submit_us)) * 1e-6;
      if (apart_s > 7 * kWeights.sibling_apart_s) continue;
      const double apart = apart_s / kWeights.sibling_apart_s;
      const double weight = kWeights.sibling / (1 + apart * apart);
      const int32_t bin = bins.at(j);
      if (bin < from) continue;
      const bool over = other.ended_as != 0;
      for (int32_t b = from; b < bin + (over ? 1 : 0); ++b)
        exposed[static_cast<size_t>(b)] += weight;
      if (over) ends[static_cast<size_t>(bin)] += weight;
    }
    blend(kWeights.user_worth);
    return out;
  }
};

// Plays fifo's part and looks at all live jobs at every decision.
class Checking final : public Policy {
 public:
  explicit Checking(Reference& reference) : reference_(reference) {}
  Level level() const override { return Level::kHistory; }
  size_t memory_bytes(const View& view) const override { return Survival::bytes(view); }
  void decide(const View& view, Memory& memory, Draft& draft) const override {
    Carver carver(memory.data());
    Survival survival(view, carver);
    survival.follow(view);
    reference_.follow(view);
    for (int32_t i = 0; i < view.num_held(); ++i) check(view, survival, view.held(i));
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      check(view, survival, slot);
    }
    while (view.num_waiting() > 0) {
      const int32_t head = view.queue_head();
      const int32_t n = place(view, Placement::kFirstFit, head, draft.scratch());
      if (n == 0 || !draft.start(head, draft.scratch(), n)) break;
    }
    if (view.num_held() > 0) draft.wake_at(view.now_us() + 200 * kSecond);
  }

 private:
  void check(const View& view, const Survival& survival, int32_t slot) const {
    const auto it = reference_.jobs.find(view.serial(slot));
    const Seen waiting{view.submit_us(slot), view.attained_us(slot), view.user(slot),
                       view.gpus(slot), 0};
    const Seen& job = it == reference_.jobs.end() ? waiting : it->second;
    const int32_t from = TimeBins::of_us(job.attained_us);
    const auto by_size = reference_.hazards(job, false), all = reference_.hazards(job, true);
    float told[kBins];
    survival.hazards(view, slot, kWeights, told);
    for (int32_t b = from; b < kBins; ++b) {
      const auto at = static_cast<size_t>(b);
      // Sums in single precision, in another order.
      EXPECT_NEAR(told[b], all[at], 2e-5) << "bin " << b << " of job " << view.serial(slot);
      ++checks;
    }
    EXPECT_NEAR(survival.size_hazards(view, slot)[from], by_size[static_cast<size_t>(from)], 2e-5);
  }
  Reference& reference_;

 public:
  mutable int64_t checks = 0;
};

TEST(Survival, LearnsWhatASlowReferenceAddsUpAnew) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomJobs how;
    how.count = 45;
    how.users = 3;
    const Scene scene("2x8", random_jobs(Rng(seed), how), no_costs());
    Reference reference;
    const Checking policy(reference);
    Player player(scene, policy);
    player.play();
    EXPECT_FALSE(player.failed());
    EXPECT_GT(policy.checks, 10'000);
    if (::testing::Test::HasFailure()) return;
  }
}

// A job's mean time left after so much of it has run, once `others` have been seen.
float mean_left_s(const std::vector<JobLine>& lines, double at_s, int32_t job) {
  const Scene scene("4x8", jobs_of(lines), no_costs());
  const auto fifo = make_policy("fifo");
  Player player(scene, *fifo);
  Memory memory;
  float left_s = 0;
  while (player.step() && static_cast<double>(player.view().now_us()) < at_s * kSecond) {
    const View& view = player.view();
    if (memory.bytes() == 0) memory.reset(Survival::bytes(view));
    Carver carver(memory.data());
    Survival survival(view, carver);
    survival.follow(view);
    for (int32_t i = 0; i < view.num_held(); ++i) {
      if (view.serial(view.held(i)) != job) continue;
      float hazards[kBins] = {};
      survival.hazards(view, view.held(i), kWeights, hazards);
      left_s = look_ahead(BinEdges(), view.attained_us(view.held(i)), hazards).mean_s;
    }
  }
  return left_s;
}

TEST(Survival, WhatRunsForLongSaysSoBeforeItHasEnded) {
  // The last job comes after four short ones, or after four that have been running for a day.
  const std::vector<JobLine> idle = {
      {0, 1, 60}, {0, 1, 60}, {0, 1, 60}, {0, 1, 60}, {100, 1, 9000}};
  std::vector<JobLine> busy = idle;
  for (size_t i = 0; i < 4; ++i) busy[i].run_s = 200'000;
  EXPECT_GT(mean_left_s(busy, 5000, 4), 3 * mean_left_s(idle, 5000, 4));
}

TEST(RollingEstimate, GoesByNameThenUserThenSize) {
  std::vector<Job> jobs = jobs_of({{0, 1, 100},
                                   {0, 1, 500},
                                   {0, 2, 900},
                                   {2000, 1, 1},
                                   {2000, 1, 1},
                                   {2000, 2, 1},
                                   {2000, 4, 1}});
  const char* users[] = {"u", "u", "v", "u", "u", "u", "w"};
  const char* names[] = {"train-1", "eval", "x", "train-27", "other", "", ""};
  for (size_t j = 0; j < jobs.size(); ++j) jobs[j].user = users[j], jobs[j].name = names[j];
  const Scene scene("4x8", jobs, no_costs());
  const auto fifo = make_policy("fifo");
  Player player(scene, *fifo);
  Memory memory;
  std::map<int32_t, float> total_s;
  while (player.advance()) {
    const View& view = player.view();
    if (memory.bytes() == 0) memory.reset(RollingEstimate::bytes(view));
    Carver carver(memory.data());
    RollingEstimate estimate(view, carver);
    estimate.follow(view);
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      total_s.emplace(view.serial(slot), estimate.total_s(view, slot));
    }
    if (!player.decide()) break;
  }
  EXPECT_FLOAT_EQ(total_s[0], 3600);  // nothing has ended
  EXPECT_FLOAT_EQ(total_s[3], 100);   // the same name but for digits
  EXPECT_FLOAT_EQ(total_s[4], 300);   // her jobs of one GPU
  EXPECT_FLOAT_EQ(total_s[5], 900);   // anybody's of two
  EXPECT_FLOAT_EQ(total_s[6], 3600);  // nobody's of four
}

}  // namespace
}  // namespace yard::testing
