#include "tests/support/futures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "env/sim/fits.h"

namespace yard::testing {
namespace {

// Users' limits: known from the beginning, and no matter how long the job really runs.
void give_limits(Rng rng, std::vector<Job>& jobs) {
  for (Job& job : jobs) {
    if (rng.below(3) != 0) job.limit_us = std::llround(4000 * rng.exponential() + 1) * kSecond;
  }
}

// Every other job measures its training, which goes up and down as it likes.
void give_curves(Rng rng, std::vector<Job>& jobs) {
  for (size_t j = 0; j < jobs.size(); j += 2) {
    for (int i = 0; i < 20; ++i) {
      jobs[j].curve.push_back({i / 16.0, rng.uniform(), rng.uniform()});
    }
  }
}

// What is measured after so much work becomes another; up to there, and to the point behind it, it
// stays.
void change_curve(Rng rng, const Job& before, double done_us, Job& job) {
  double at_us = -1;
  for (CurvePoint& point : job.curve) {
    const bool settled = at_us < done_us;
    at_us = std::round(point.share * static_cast<double>(before.run_us));
    point.share = at_us / static_cast<double>(job.run_us);
    if (!settled) point.value = rng.uniform(), point.noise = rng.uniform();
  }
}

// Jobs of another world, from `from_us` on. Some come after jobs that are there already.
std::vector<Job> newcomers(Rng rng, const RandomWorld& now, const std::vector<Job>& kept,
                           int64_t from_us, int32_t count) {
  Trace trace;
  trace.source = "random";
  trace.jobs =
      random_world(rng.split(1), {.jobs = count, .shapes = true, .after = false, .faults = false})
          .jobs;
  give_limits(rng.split(2), trace.jobs);
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    Job& job = trace.jobs[j];
    job.id = "later" + std::to_string(j);
    job.user += rng.below(4) == 0 ? "x" : "";
    job.tenant = std::array{"red", "blue", "green"}[rng.below(3)];
    job.submit_us += from_us;
  }
  check_fits(trace, now.cluster, true);
  for (Job& job : trace.jobs) {
    if (kept.empty() || rng.below(4) != 0) continue;
    job.after.push_back(kept[rng.below(static_cast<uint32_t>(kept.size()))].id);
  }
  return std::move(trace.jobs);
}

std::vector<Fault> other_faults(const std::vector<Fault>& now, int64_t until_us, Rng rng) {
  std::vector<Fault> other;
  for (Fault fault : now) {
    const int64_t later_us = until_us + 1 + std::llround(2000 * rng.exponential()) * kSecond;
    if (fault.at_us > until_us) {
      if (rng.below(2) == 0) continue;
      fault.until_us = later_us + kSecond + std::llround(rng.uniform() * 500) * kSecond;
      fault.at_us = later_us;
      fault.kind = static_cast<FaultKind>(rng.below(3));
    } else if (fault.until_us > until_us) {
      fault.until_us = later_us;  // nobody knows when it will be repaired
    }
    other.push_back(fault);
  }
  return other;
}

// No job's rate is above this.
double fastest(const RandomWorld& world) {
  double most = 1;
  for (const GpuType& type : world.cluster.types) most = std::max(most, type.speed);
  if (!world.speeds) return most;
  const auto& steps = world.speeds->steps_per_s;
  const auto& reference = world.speeds->class_reference;
  return std::max(most, *std::max_element(steps.begin(), steps.end()) /
                            *std::min_element(reference.begin(), reference.end()));
}

}  // namespace

RandomWorld told_world(Rng rng, const RandomWorldOptions& options) {
  RandomWorld world = random_world(rng.split(1), options);
  give_limits(rng.split(2), world.jobs);
  give_curves(rng.split(3), world.jobs);
  for (Fault& fault : world.faults) {
    if (fault.until_us == kNever) fault.until_us = fault.at_us + 9000 * kSecond;
  }
  return world;
}

Settled settled_by(const Scene& scene, const Policy& policy, int64_t until_us) {
  Player player(scene, policy);
  const auto size = static_cast<size_t>(scene.size());
  Settled settled{std::vector<char>(size, 0), std::vector<double>(size, 0)};
  struct Run {
    size_t job;
    double done_us, rate;
    int64_t since_us;
  };
  std::vector<Run> runs;  // since the last event; nobody is faster than alone
  const auto pass = [&](int64_t to_us) {
    for (const Run& run : runs) {  // a failure may take back what was done: the most counts
      double& least_us = settled.least_us[run.job];
      const double ran_us = static_cast<double>(to_us - run.since_us);
      least_us = std::max(least_us, run.done_us + ran_us * run.rate);
    }
  };
  while (player.advance() && player.view().now_us() <= until_us) {
    const ClusterState& s = player.state();
    pass(s.head->now_us);
    for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
      if (s.phase[slot] == Phase::kDone) settled.ended[static_cast<size_t>(s.job[slot])] = 1;
    }
    if (!player.decide()) break;
    runs.clear();
    for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
      if (s.phase[slot] != Phase::kRunning) continue;
      const double rate =
          scene.fixed().rated ? std::max(s.rate[slot], s.alone_rate[slot]) : s.rate[slot];
      runs.push_back({static_cast<size_t>(s.job[slot]), s.done_us[slot], rate, s.since_us[slot]});
    }
  }
  pass(until_us);
  return settled;
}

Settled settled_by_anybody(const RandomWorld& world, int64_t until_us) {
  const double most = fastest(world);
  Settled settled;
  for (const Job& job : world.jobs) {
    const double can_us = most * static_cast<double>(until_us - job.submit_us);
    settled.ended.push_back(static_cast<double>(job.run_us) <= can_us);
    settled.least_us.push_back(std::max(can_us, 0.0));
  }
  return settled;
}

RandomWorld other_future(const RandomWorld& now, const Settled& settled, int64_t until_us, Rng rng,
                         bool keep_count) {
  RandomWorld other = now;
  other.jobs.clear();
  for (size_t j = 0; j < now.jobs.size(); ++j) {
    Job job = now.jobs[j];
    if (job.submit_us > until_us) break;
    const auto more_us = static_cast<int64_t>(1e9 * rng.exponential());
    if (settled.ended[j] == 0) {
      job.run_us = static_cast<int64_t>(settled.least_us[j]) + 2 + more_us;
      change_curve(rng.split(100 + j), now.jobs[j], settled.least_us[j], job);
    }
    other.jobs.push_back(std::move(job));
  }
  const std::vector<Job> kept = other.jobs;
  const size_t missing = now.jobs.size() - kept.size();
  const auto count = static_cast<int32_t>(keep_count ? 3 * missing + 20 : 5 + rng.below(60));
  std::vector<Job> later = newcomers(rng.split(1), now, kept, until_us + 1, count);
  if (keep_count) later.resize(missing);
  other.jobs.insert(other.jobs.end(), later.begin(), later.end());
  if (other.speeds) {
    std::vector<int32_t>& classes = other.speeds->classes;
    const auto num_classes = static_cast<uint32_t>(other.speeds->class_kind.size());
    classes.resize(kept.size());
    while (classes.size() < other.jobs.size()) {
      classes.push_back(static_cast<int32_t>(rng.below(num_classes)));
    }
  }
  other.faults = other_faults(now.faults, until_us, rng.split(2));
  return other;
}

}  // namespace yard::testing
