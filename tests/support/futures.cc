#include "tests/support/futures.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "env/sim/placement/fits.h"

namespace yard::testing {
namespace {

constexpr int32_t kModels = 3, kMaxGpus = 6;

void give_tenants(Rng rng, std::vector<Job>& jobs) {
  for (Job& job : jobs) {
    job.tenant = std::array{"a", "b", "nobody"}[rng.below(3)];
  }
}

void give_models(Rng rng, std::vector<Job>& jobs) {
  for (Job& job : jobs) {
    const uint32_t n = rng.below(kModels + 1);
    job.model = n < kModels ? "m" + std::to_string(n) : "";
  }
}

// Two nodes per rack, two racks per pod, islands of two GPUs, and links which a few jobs fill.
void set_network(ClusterSpec& cluster) {
  for (size_t m = 0; m < cluster.nodes.size(); ++m) {
    cluster.nodes[m].rack = static_cast<int32_t>(m / 2);
    cluster.nodes[m].pod = static_cast<int32_t>(m / 4);
    cluster.nodes[m].island_gpus = std::min(cluster.nodes[m].gpus, 2);
  }
  for (const Tier tier : {Tier::kRack, Tier::kPod, Tier::kCore}) {
    cluster.tiers[static_cast<size_t>(tier)] = {.bandwidth_gbps = 8, .oversubscription = 2};
  }
}

// Users' limits. They are known from the start and independent of the actual run time.
void give_limits(Rng rng, std::vector<Job>& jobs) {
  for (Job& job : jobs) {
    if (rng.below(3) != 0) job.limit_us = std::llround(4000 * rng.exponential() + 1) * kSecond;
  }
}

// Gives every other job a training curve of random values.
void give_curves(Rng rng, std::vector<Job>& jobs) {
  for (size_t j = 0; j < jobs.size(); j += 2) {
    for (int i = 0; i < 20; ++i) {
      jobs[j].curve.push_back({i / 16.0, rng.uniform(), rng.uniform()});
    }
  }
}

// Lets schedulers end some of the jobs with a curve early.
void give_early_stops(Rng rng, std::vector<Job>& jobs) {
  for (Job& job : jobs) {
    const bool lets = rng.below(2) == 0;
    if (lets && !job.curve.empty()) job.enough = rng.uniform();
  }
}

// Redraws the curve beyond `work_done_us` of work. Earlier points, and the first one after it,
// stay.
void change_curve(Rng rng, const Job& before, double work_done_us, Job& job) {
  double at_us = -1;
  for (TrainingCurvePoint& point : job.curve) {
    const bool settled = at_us < work_done_us;
    at_us = std::round(point.share * static_cast<double>(before.run_us));
    point.share = at_us / static_cast<double>(job.run_us);
    if (!settled) point.value = rng.uniform(), point.noise = rng.uniform();
  }
}

std::vector<Job> fitting(std::vector<Job> jobs, const ClusterSpec& cluster) {
  Trace trace;
  trace.source = "random";
  trace.jobs = std::move(jobs);
  check_jobs_fit_cluster(trace, cluster, true);
  return std::move(trace.jobs);
}

// Returns jobs of another random world which arrive from `from_us` on. Some depend on kept jobs.
std::vector<Job> later_jobs(Rng rng, const ForkableWorld& now, const std::vector<Job>& kept,
                            int64_t from_us, int32_t count) {
  std::vector<Job> jobs =
      random_world(rng.split(1), {.jobs = count, .shapes = true, .after = false, .faults = false})
          .jobs;
  give_tenants(rng.split(2), jobs);
  give_models(rng.split(3), jobs);
  give_limits(rng.split(4), jobs);
  const int64_t begin_us = jobs.empty() ? 0 : jobs[0].submit_us;
  for (size_t j = 0; j < jobs.size(); ++j) {
    Job& job = jobs[j];
    job.id = "later" + std::to_string(j);
    job.user += rng.below(4) == 0 ? "x" : "";
    job.submit_us += from_us - begin_us;
  }
  jobs = fitting(std::move(jobs), now.world.cluster);
  for (Job& job : jobs) {
    if (kept.empty() || rng.below(4) != 0) continue;
    job.after.push_back(kept[rng.below(static_cast<uint32_t>(kept.size()))].id);
  }
  return jobs;
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
      fault.until_us = later_us;  // the repair time is hidden
    }
    other.push_back(fault);
  }
  return other;
}

}  // namespace

InventedModels::InventedModels(size_t types, bool other) {
  num_types = static_cast<int32_t>(types);
  num_kinds = kModels;
  max_gpus = kMaxGpus;
  unmeasured_pair = 0.75;
  class_kind = {-1, 0, 1, 2};
  class_reference.assign(kModels + 1, 1);
  gradient_bytes.assign(kModels, 1e9);
  counts_worker_steps = server_exchange = std::vector<uint8_t>(kModels, 0);
  for (int32_t kind = 0; kind < kModels; ++kind) {
    for (int32_t type = 0; type < num_types; ++type) {
      for (int32_t gpus = 0; gpus <= kMaxGpus; ++gpus) {
        for (int32_t span = 0; span < kSpans; ++span) {
          const double slower = 1 + 0.125 * span * (kind + 1) + 0.0625 * gpus;
          const bool another = other && kind == kModels - 1;
          steps_per_s.push_back(another ? 1 / (1 + 0.5 * type) / (slower + span)
                                        : (1 + 0.5 * type) / slower);
          exchange_share.push_back(span < 2 ? 0 : 0.5 + 0.015625 * span);
        }
      }
    }
  }
  for (int32_t type = 0; type < num_types; ++type) type_speed.push_back(1 + 0.25 * type);
  for (int32_t i = 0; i < num_types * kModels * kModels; ++i) {
    pair_rate.push_back(0.5 + 0.125 * (i % 4));
  }
}

std::vector<int32_t> InventedModels::classes_of(const std::vector<Job>& jobs) {
  std::vector<int32_t> classes;
  for (const Job& job : jobs) classes.push_back(job.model.empty() ? 0 : 1 + job.model[1] - '0');
  return classes;
}

ForkableWorld forkable_world(Rng rng, const FutureOptions& options) {
  ForkableWorld forkable{random_world(rng.split(1), options.world), options.models};
  ClusterSpec& cluster = forkable.world.cluster;
  if (options.tenants) {
    cluster.tenants = {{.name = "a", .limit_gpus = 6}, {.name = "b", .limit_gpus = 10}};
    give_tenants(rng.split(2), forkable.world.jobs);
  }
  if (options.overload) {
    for (Node& node : cluster.nodes) {
      node.cpus = 4 * node.gpus;
      node.mem_gib = 0;
      node.cpu_overload = 2;
    }
  }
  if (options.models) {
    set_network(cluster);
    give_models(rng.split(3), forkable.world.jobs);
  }
  if (options.slowdowns) cluster.slowdowns = {.neighbours = 0.5, .shared_exchange = true};
  give_limits(rng.split(4), forkable.world.jobs);
  give_curves(rng.split(5), forkable.world.jobs);
  give_early_stops(rng.split(6), forkable.world.jobs);
  forkable.world.jobs = fitting(std::move(forkable.world.jobs), cluster);
  // A fault which never ends could leave a job without any possible placement.
  for (Fault& fault : forkable.world.faults) {
    if (fault.until_us == kNever) fault.until_us = fault.at_us + 9000 * kSecond;
  }
  return forkable;
}

ForkableScene::ForkableScene(const ForkableWorld& forkable)
    : models_(forkable.world.cluster.types.size(), forkable.other_tables),
      scene_(forkable.world.cluster, forkable.world.jobs, forkable.world.costs) {
  if (forkable.models)
    scene_.set_speeds(models_.columns(), InventedModels::classes_of(forkable.world.jobs));
  scene_.set_faults(forkable.world.faults);
}

Settled settled_by(const Scene& scene, const Policy& policy, int64_t until_us) {
  SceneRunner runner(scene, policy);
  const auto size = static_cast<size_t>(scene.size());
  Settled settled{std::vector<char>(size, 0), std::vector<double>(size, 0)};
  struct Run {
    size_t job;
    double work_done_us, rate;
    int64_t since_us;
  };
  std::vector<Run> runs;  // since the last event; no job is faster than in isolation
  const auto pass = [&](int64_t to_us) {
    for (const Run& run : runs) {  // a failure may undo work: the maximum counts
      double& min_work_us = settled.min_work_us[run.job];
      const double ran_us = static_cast<double>(to_us - run.since_us);
      min_work_us = std::max(min_work_us, run.work_done_us + ran_us * run.rate);
    }
  };
  while (runner.advance() && runner.view().now_us() <= until_us) {
    const SimState& s = runner.state();
    pass(s.head->now_us);
    for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
      if (s.phase[slot] == Phase::kDone) settled.ended[static_cast<size_t>(s.job[slot])] = 1;
    }
    if (!runner.decide()) break;
    runs.clear();
    for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
      if (s.phase[slot] != Phase::kRunning) continue;
      const double rate =
          scene.fixed().rated ? std::max(s.rate[slot], s.isolated_rate[slot]) : s.rate[slot];
      runs.push_back(
          {static_cast<size_t>(s.job[slot]), s.work_done_us[slot], rate, s.since_us[slot]});
    }
  }
  pass(until_us);
  return settled;
}

Settled settled_under_any_policy(const std::vector<Job>& jobs, int64_t until_us, double max_rate) {
  Settled settled{std::vector<char>(jobs.size(), 0), std::vector<double>(jobs.size(), 0)};
  for (size_t j = 0; j < jobs.size(); ++j) {
    const double can_us = max_rate * static_cast<double>(until_us - jobs[j].submit_us);
    settled.ended[j] = static_cast<double>(jobs[j].run_us) <= can_us;
    settled.min_work_us[j] = std::max(can_us, 0.0);
  }
  return settled;
}

ForkableWorld other_future(const ForkableWorld& now, const Settled& settled, int64_t until_us,
                           Rng rng, bool keep_count) {
  ForkableWorld other = now;
  std::vector<Job>& jobs = other.world.jobs;
  jobs.clear();
  for (size_t j = 0; j < now.world.jobs.size(); ++j) {
    Job job = now.world.jobs[j];
    if (job.submit_us > until_us) break;
    const auto more_us = static_cast<int64_t>(1e9 * rng.exponential());
    if (settled.ended[j] == 0) {
      job.run_us = static_cast<int64_t>(settled.min_work_us[j]) + 2 + more_us;
      change_curve(rng.split(100 + j), now.world.jobs[j], settled.min_work_us[j], job);
    }
    jobs.push_back(std::move(job));
  }
  const std::vector<Job> kept = jobs;
  const size_t missing = now.world.jobs.size() - kept.size();
  const int32_t count = static_cast<int32_t>(keep_count ? 2 * missing + 20 : 5 + rng.below(60));
  std::vector<Job> later = later_jobs(rng.split(1), now, kept, until_us + 1, count);
  if (keep_count) later.resize(missing);
  jobs.insert(jobs.end(), later.begin(), later.end());
  other.world.faults = other_faults(now.world.faults, until_us, rng.split(2));
  return other;
}

std::vector<ForkedWorld> forked_worlds(Rng rng, const FutureOptions& options, int64_t& until_us) {
  constexpr double kFastest = 2;  // upper bound on rates in these worlds
  std::vector<ForkableWorld> forkable = {forkable_world(rng.split(1), options),
                                         forkable_world(rng.split(2), options)};
  const size_t size = std::min(forkable[0].world.jobs.size(), forkable[1].world.jobs.size());
  until_us = INT64_MAX;
  for (ForkableWorld& original : forkable) {
    original.world.jobs.resize(size);
    const int64_t first_us = original.world.jobs[0].submit_us;
    for (Job& job : original.world.jobs) job.submit_us -= first_us;
    until_us = std::min(until_us, original.world.jobs[size / 2].submit_us);
  }
  std::vector<ForkedWorld> pairs;
  for (ForkableWorld& original : forkable) {
    const Settled settled = settled_under_any_policy(original.world.jobs, until_us, kFastest);
    ForkableWorld then = other_future(original, settled, until_us, rng.split(3), true);
    pairs.push_back({std::move(original), std::move(then)});
  }
  return pairs;
}

}  // namespace yard::testing
