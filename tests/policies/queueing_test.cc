// Queues with known solutions: without costs, one GPU under `fifo` is M/M/1, four are M/D/4, and
// one under `srtf` is M/M/1-SRPT. Tolerances are 4 standard errors over disjoint batches of jobs,
// which are long compared with the queue's correlation time.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/scene.h"

namespace yard::testing {
namespace {

constexpr double kServiceS = 100;  // mean; microseconds round it by 1e-8

struct Estimate {
  double mean, error;
};

// Mean wait (`of_jct`: time in the system) in mean run times, without the first tenth of jobs.
Estimate measure(const std::string& cluster, const std::string& policy_text,
                 const std::vector<Job>& jobs, bool of_jct) {
  const Scene scene(cluster, jobs, no_costs());
  const auto policy = make_policy(policy_text);
  PolicyDecider decider(*policy);
  const Outcome outcome = RuleSetRegistry::make("default", {})
                              ->replay({.fixed = scene.fixed(),
                                        .workload = scene.workload(),
                                        .first_job = 0,
                                        .end_job = scene.size(),
                                        .policy = policy_text,
                                        .placement = {},
                                        .settings = {},
                                        .decider = &decider,
                                        .oracle_noise = 0,
                                        .watch = {}});
  constexpr size_t kBatches = 30;
  const size_t first = jobs.size() / 10, length = (jobs.size() - first) / kBatches;
  double sum = 0, squares = 0;
  for (size_t b = 0; b < kBatches; ++b) {
    double batch = 0;
    for (size_t j = first + b * length; j < first + (b + 1) * length; ++j) {
      const int64_t in_us = outcome.jobs[j].end_us - jobs[j].submit_us;
      batch += static_cast<double>(of_jct ? in_us : in_us - jobs[j].run_us);
    }
    batch /= static_cast<double>(length) * kServiceS * kSecond;
    sum += batch;
    squares += batch * batch;
  }
  const double mean = sum / kBatches;
  const double variance = (squares - kBatches * mean * mean) / (kBatches - 1);
  return {mean, std::sqrt(variance / kBatches)};
}

// Poisson arrivals; `load` is per server.
std::vector<Job> arrivals(int32_t count, double load, int32_t servers, bool exponential,
                          uint64_t seed) {
  Rng rng(seed);
  std::vector<Job> jobs;
  double at_s = 0;
  for (int32_t j = 0; j < count; ++j) {
    at_s += rng.exponential() * kServiceS / (load * servers);
    Job job;
    job.submit_us = std::llround(at_s * kSecond);
    job.run_us = std::llround(kServiceS * (exponential ? rng.exponential() : 1) * kSecond);
    job.gpus = 1;
    jobs.push_back(job);
  }
  return jobs;
}

void expect_near(const Estimate& got, double want) {
  EXPECT_NEAR(got.mean, want, 4 * got.error);
  EXPECT_LT(got.error, 0.04 * want) << "too few jobs for a result";
}

TEST(Queueing, OneGpuUnderFifoIsTheMM1Queue) {
  // Mean wait rho / (mu - lambda), here with mu = 1.
  constexpr double kLoad = 0.7;
  expect_near(measure("1x1", "fifo", arrivals(300'000, kLoad, 1, true, 21), false),
              kLoad / (1 - kLoad));
}

// Crommelin 1932: jobs in service at t have left at t + D, and waiting ones have moved up. So the
// number in the system at steps of D is a Markov chain: n' = max(n - c, 0) + Poisson(lambda D).
double mdc_wait(int servers, double load) {
  constexpr size_t kStates = 150;
  const double arrivals = load * servers;  // per service time
  std::vector<double> poisson(kStates), p(kStates, 0);
  for (size_t k = 0; k < kStates; ++k) {
    poisson[k] = std::exp(-arrivals + static_cast<double>(k) * std::log(arrivals) -
                          std::lgamma(static_cast<double>(k) + 1));
  }
  p[0] = 1;
  for (int step = 0; step < 1500; ++step) {
    std::vector<double> next(kStates, 0);
    for (size_t n = 0; n < kStates; ++n) {
      const size_t left = n > static_cast<size_t>(servers) ? n - static_cast<size_t>(servers) : 0;
      for (size_t k = 0; left + k < kStates; ++k) next[left + k] += p[n] * poisson[k];
    }
    p = next;
  }
  double queued = 0;
  for (size_t n = static_cast<size_t>(servers); n < kStates; ++n) {
    queued += static_cast<double>(n - static_cast<size_t>(servers)) * p[n];
  }
  return queued / arrivals;  // Little's law
}

TEST(Queueing, FourGpusUnderFifoAreTheMD4Queue) {
  // For one server there is a closed form: rho / (2 (1 - rho)).
  ASSERT_NEAR(mdc_wait(1, 0.8), 0.8 / (2 * 0.2), 1e-6);
  for (const char* cluster : {"1x4", "4x1"}) {
    expect_near(measure(cluster, "fifo", arrivals(200'000, 0.85, 4, false, 22), false),
                mdc_wait(4, 0.85));
  }
}

// Schrage and Miller 1966, for exponential run times of mean 1: a job of length x waits for jobs
// with less than x left, and is then interrupted by shorter ones.
double srpt_jct(double load) {
  constexpr double kStep = 1e-3, kLongest = 40;
  double busy = 0;     // rho(x): load of jobs under x
  double shorter = 0;  // lambda * integral of t^2 f(t) to x
  double slowed = 0;   // integral of dt / (1 - rho(t)) to x
  double jct = 0;
  for (double x = kStep / 2; x < kLongest; x += kStep) {  // midpoints
    const double density = std::exp(-x);
    // To the midpoint of the cell, then on to its end.
    const double rho = busy + load * x * density * kStep / 2;
    const double second = shorter + load * x * x * density * kStep / 2;
    const double run = slowed + kStep / 2 / (1 - rho);
    const double wait = (second + load * x * x * density) / (2 * (1 - rho) * (1 - rho));
    jct += (wait + run) * density * kStep;
    busy += load * x * density * kStep;
    shorter += load * x * x * density * kStep;
    slowed += kStep / (1 - rho);
  }
  return jct;
}

TEST(Queueing, OneGpuUnderSrtfIsTheShortestRemainingTimeQueue) {
  constexpr double kLoad = 0.8;
  const std::vector<Job> jobs = arrivals(300'000, kLoad, 1, true, 23);
  const Estimate srtf = measure("1x1", "srtf", jobs, true);
  expect_near(srtf, srpt_jct(kLoad));
  EXPECT_LT(srtf.mean, 0.6 / (1 - kLoad)) << "far from first come, first served";
}

}  // namespace
}  // namespace yard::testing
