// The online predictor against a slow reference, which keeps every job's history and recounts it.
// Running jobs count as observations, too.
#include "env/predict/survival.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "env/predict/rolling_estimate.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

constexpr int32_t kNumBins = TimeBins::kBins;

// All that was observed of one job, by its index in the trace.
struct JobHistory {
  int64_t submit_us = 0, attained_us = 0, limit_us = kNone;
  int32_t user = 0, gpus = 0, name = kNone;
  int32_t bin = 0;  // the current one
  bool over = false, by_limit = false;
};

// One observation: a job survived a bin, or ended in it.
struct SurvivalEvent {
  int32_t job, bin, decision;
  double exposed, ended;
};

// The layers as defined in survival.h: which jobs belong to each, and the factor by which an
// observation discounts earlier ones in the same bin.
struct Layer {
  bool (*of)(const JobHistory& other, const JobHistory& job);
  double keep;
};
int32_t size_of(const JobHistory& s) { return gpu_size_bucket(s.gpus); }
const Layer kLayers[] = {
    {[](const JobHistory&, const JobHistory&) { return true; }, 1 - 1.0 / 8192},
    {[](const JobHistory& o, const JobHistory& s) { return size_of(o) == size_of(s); },
     1 - 1.0 / 2048},
    {[](const JobHistory& o, const JobHistory& s) { return size_of(o) == size_of(s); },
     1 - 1.0 / 32},
    {[](const JobHistory& o, const JobHistory& s) {
       return o.limit_us != kNone && s.limit_us != kNone &&
              TimeBins::bin_of_us(o.limit_us) == TimeBins::bin_of_us(s.limit_us);
     },
     1 - 1.0 / 512},
    {[](const JobHistory& o, const JobHistory& s) {
       return o.user == s.user && coarse_gpu_size_bucket(o.gpus) == coarse_gpu_size_bucket(s.gpus);
     },
     1 - 1.0 / 64},
    {[](const JobHistory& o, const JobHistory& s) { return o.name == s.name && s.name != kNone; },
     1 - 1.0 / 32}};
constexpr size_t kSiblings = 6;

struct Reference {
  std::map<int32_t, JobHistory> jobs;
  std::vector<SurvivalEvent> survival_events;
  std::array<std::array<std::array<double, 8>, 7>, kSiblings + 1> bits = {};  // log loss
  int32_t decisions = 0;

  void on_events(const View& view) {
    const std::map<int32_t, JobHistory> before = jobs;
    std::vector<SurvivalEvent> now;
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      if (view.finished(view.changed_slot(i))) observe(view, view.changed_slot(i), now);
    }
    for (int32_t i = 0; i < view.num_holders(); ++i) observe(view, view.holder_slot(i), now);
    std::swap(jobs, now_jobs);  // predictions use only earlier observations
    jobs = before;
    score(now);
    jobs = now_jobs;
    survival_events.insert(survival_events.end(), now.begin(), now.end());
    ++decisions;
  }

  static JobHistory history_of(const View& view, int32_t slot) {
    return {view.submit_us(slot), view.attained_us(slot), view.limit_us(slot),
            view.user(slot),      view.gpus(slot),        view.name(slot)};
  }

  // Returns the hazards as Survival::hazards(), from the job's current bin. Dims: (B).
  std::vector<double> hazards(int32_t j, const JobHistory& job, bool by_size_alone) {
    std::vector<double> out(kNumBins);
    const int32_t from = TimeBins::bin_of_us(job.attained_us);
    for (int32_t b = from; b < kNumBins; ++b) {
      double chance = 0.075;
      for (size_t l = 0; l <= (by_size_alone ? 1 : kSiblings); ++l) {
        const auto [exposed, ended] = counts(l, j, job, b, from);
        const double prior_strength = prior_strength_of(l, b);
        chance = (ended + prior_strength * chance) / (exposed + prior_strength);
      }
      out[static_cast<size_t>(b)] = chance;
    }
    return out;
  }

 private:
  std::map<int32_t, JobHistory> now_jobs;

  void observe(const View& view, int32_t slot, std::vector<SurvivalEvent>& now) {
    const int32_t j = view.serial(slot);
    const auto [it, begins] = jobs.try_emplace(j, JobHistory());
    const int32_t bin_before = begins ? 0 : it->second.bin;
    JobHistory& seen = it->second;
    seen = history_of(view, slot);
    seen.bin = bin_before;
    const auto begin_us = [](int32_t bin) {
      return bin == 0 ? 0 : exp2_coarse(TimeBins::log2_begin(bin)) * 1e6;
    };
    while (static_cast<double>(seen.attained_us) >= begin_us(seen.bin + 1)) {
      now.push_back({j, seen.bin++, decisions, 1, 0});
    }
    if (!view.finished(slot)) return;
    seen.over = true;
    seen.by_limit = seen.limit_us != kNone && seen.attained_us >= seen.limit_us;
    const double whole_us = begin_us(seen.bin + 1) - begin_us(seen.bin);
    const double to_us = static_cast<double>(seen.by_limit ? seen.limit_us : seen.attained_us);
    const double part = (to_us - begin_us(seen.bin)) / whole_us;
    now.push_back({j, seen.bin, decisions, seen.by_limit ? part : 1, seen.by_limit ? 0.0 : 1.0});
  }

  // Counts a layer's exposures and ends in bin `b`. LatestStartedJobs must have reached bin `from`.
  std::pair<double, double> counts(size_t l, int32_t j, const JobHistory& job, int32_t b,
                                   int32_t from) {
    double exposed = 0, ended = 0;
    if (l == kSiblings) {
      for (const auto& [k, other] : jobs) {
        if (k == j || other.user != job.user || other.gpus != job.gpus) continue;
        const double apart = std::abs(static_cast<double>(other.submit_us - job.submit_us)) / 120e6;
        if (apart > 7 || other.bin < from) continue;
        const bool ends = other.over && !other.by_limit && other.bin == b;
        exposed += (other.bin > b || ends) / (1 + apart * apart);
        ended += ends / (1 + apart * apart);
      }
      return {exposed, ended};
    }
    // From the latest to the earliest: the weight falls with each later decision.
    double weight = 1;
    int32_t same = 0, decision = kNone;
    for (size_t i = survival_events.size(); i-- > 0;) {
      const SurvivalEvent& c = survival_events[i];
      if (c.bin != b || !kLayers[l].of(jobs.at(c.job), job)) continue;
      if (c.decision != decision) {
        weight *= std::pow(kLayers[l].keep, same);
        same = 0, decision = c.decision;
      }
      ++same;
      exposed += weight * c.exposed;
      ended += weight * c.ended;
    }
    return {exposed, ended};
  }

  static size_t age(int32_t b) { return static_cast<size_t>(b / 12); }

  double prior_strength_of(size_t l, int32_t b) {
    const auto& lost = bits[l][age(b)];
    const double min_loss = *std::min_element(lost.begin(), lost.end());
    double sum = 0, log_sum = 0;
    for (size_t i = 0; i < lost.size(); ++i) {
      const double weight = std::exp2(min_loss - lost[i]);
      sum += weight;
      log_sum += weight * (2 * static_cast<double>(i) - 2);
    }
    return std::exp2(log_sum / sum);
  }

  // Scores the observations of a decision by predictions made before it.
  void score(const std::vector<SurvivalEvent>& now) {
    auto after = bits;
    for (const SurvivalEvent& c : now) {
      if (c.ended == 0 && c.exposed < 1) continue;
      const JobHistory& job = now_jobs.at(c.job);
      double chance = 0.075;
      for (size_t l = 0; l <= kSiblings; ++l) {
        const auto [exposed, ended] = counts(l, c.job, job, c.bin, c.bin);
        if (exposed == 0) continue;
        for (double& x : after[l][age(c.bin)]) x *= 1 - 1.0 / 4096;
        const double prior_strength = prior_strength_of(l, c.bin);
        chance = (ended + prior_strength * chance) / (exposed + prior_strength);
      }
    }
    for (const SurvivalEvent& c : now) {
      if (c.ended == 0 && c.exposed < 1) continue;
      const JobHistory& job = now_jobs.at(c.job);
      double chance = 0.075;
      for (size_t l = 0; l <= kSiblings; ++l) {
        const auto [exposed, ended] = counts(l, c.job, job, c.bin, c.bin);
        if (exposed == 0) continue;
        for (size_t i = 0; i < 8; ++i) {
          const double choice = std::pow(4, static_cast<double>(i) - 1);
          const double p = (ended + choice * chance) / (exposed + choice);
          after[l][age(c.bin)][i] -= std::log2(std::max(c.ended > 0 ? p : 1 - p, 1e-6));
        }
        const double prior_strength = prior_strength_of(l, c.bin);
        chance = (ended + prior_strength * chance) / (exposed + prior_strength);
      }
    }
    bits = after;
  }
};

// Schedules like fifo and compares the predictions for all live jobs at every decision.
class Checking final : public Policy {
 public:
  explicit Checking(Reference& reference) : reference_(reference) {}
  InformationLevel level() const override { return InformationLevel::kEstimate; }
  size_t memory_bytes(const View& view) const override { return Survival::bytes(view); }
  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    Survival survival(view, bump);
    survival.on_events(view);
    reference_.on_events(view);
    for (int32_t i = 0; i < view.num_holders(); ++i) check(view, survival, view.holder_slot(i));
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      check(view, survival, slot);
    }
    while (view.num_waiting() > 0) {
      const int32_t head = view.queue_head();
      const int32_t n = place(view, PlacementRule::kFirstFit, head, draft.scratch());
      if (n == 0 || !draft.start(head, draft.scratch(), n)) break;
    }
    if (view.num_holders() > 0) draft.wake_at(view.now_us() + 200 * kSecond);
  }

 private:
  void check(const View& view, const Survival& survival, int32_t slot) const {
    const int32_t j = view.serial(slot);
    const JobHistory job = Reference::history_of(view, slot);
    const int32_t from = TimeBins::bin_of_us(job.attained_us);
    const auto by_size = reference_.hazards(j, job, true), all = reference_.hazards(j, job, false);
    float predicted[kNumBins];
    survival.hazards(view, slot, predicted);
    for (int32_t b = from; b < kNumBins; ++b) {
      const auto at = static_cast<size_t>(b);
      // Sums in single precision in another order, and a logarithm with errors of 2e-4.
      EXPECT_NEAR(predicted[b], all[at], 1e-3) << "bin " << b << " of job " << j;
      EXPECT_NEAR(survival.size_hazards(view, slot)[b], by_size[at], 1e-3);
      ++checks;
    }
  }
  Reference& reference_;

 public:
  mutable int64_t checks = 0;
};

TEST(Survival, MatchesASlowReference) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomJobs how;
    how.count = 30;
    how.users = 3;
    std::vector<Job> jobs = random_jobs(Rng(seed), how);
    for (size_t j = 0; j < jobs.size(); ++j) {
      if (j % 3 == 1) jobs[j].limit_us = 2 * jobs[j].run_us;
      if (j % 3 == 2) jobs[j].limit_us = jobs[j].run_us;  // the limit ends it
      if (j % 2 == 0) jobs[j].name = j % 4 == 0 ? "train" : "eval";
    }
    const Scene scene("2x8", jobs, no_costs());
    Reference reference;
    const Checking policy(reference);
    SceneRunner runner(scene, policy);
    runner.play();
    EXPECT_FALSE(runner.failed());
    EXPECT_GT(policy.checks, 10'000);
    if (::testing::Test::HasFailure()) return;
  }
}

// Returns the predicted share of jobs like `job` which end within 90 s, when it has just started.
float ended_soon(const std::vector<JobLine>& lines, int32_t job) {
  const Scene scene("4x8", jobs_of(lines), no_costs());
  const auto fifo = make_policy("fifo");
  SceneRunner runner(scene, *fifo);
  Memory memory;
  while (runner.step()) {
    const View& view = runner.view();
    if (memory.bytes() == 0) memory.reset(Survival::bytes(view));
    BumpAllocator bump(memory.data());
    Survival survival(view, bump);
    survival.on_events(view);
    for (int32_t i = 0; i < view.num_holders(); ++i) {
      if (view.serial(view.holder_slot(i)) != job) continue;
      float hazards[kNumBins] = {};
      survival.hazards(view, view.holder_slot(i), hazards);
      return probability_ended_within(BinEdges(), 0, kUnlimitedUs, hazards,
                                      survival.ends_within_bin(view, view.holder_slot(i)), 90);
    }
  }
  return -1;
}

TEST(Survival, RunningJobsCountBeforeTheyEnd) {
  // The last job comes after thirty jobs which took a minute, or which are still running.
  std::vector<JobLine> idle(30, JobLine{0, 1, 60});
  std::vector<JobLine> busy(30, JobLine{0, 1, 200'000});
  idle.push_back({1000, 1, 9000});
  busy.push_back({1000, 1, 9000});
  EXPECT_GT(ended_soon(idle, 30), 0.75);
  EXPECT_LT(ended_soon(busy, 30), 0.4);
  EXPECT_GT(ended_soon(busy, 30), 0);
}

TEST(RollingEstimate, UsesNameThenUserThenSize) {
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
  SceneRunner runner(scene, *fifo);
  Memory memory;
  std::map<int32_t, float> total_s;
  while (runner.advance()) {
    const View& view = runner.view();
    if (memory.bytes() == 0) memory.reset(RollingEstimate::bytes(view));
    BumpAllocator bump(memory.data());
    RollingEstimate estimate(view, bump);
    estimate.on_events(view);
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      total_s.emplace(view.serial(slot), estimate.predicted_total_s(view, slot));
    }
    if (!runner.decide()) break;
  }
  EXPECT_FLOAT_EQ(total_s[0], 3600);  // nothing has ended
  EXPECT_FLOAT_EQ(total_s[3], 100);   // same name without digits
  EXPECT_FLOAT_EQ(total_s[4], 300);   // the user's jobs with one GPU
  EXPECT_FLOAT_EQ(total_s[5], 900);   // all users' jobs with two
  EXPECT_FLOAT_EQ(total_s[6], 3600);  // no job with four has ended
}

}  // namespace
}  // namespace yard::testing
