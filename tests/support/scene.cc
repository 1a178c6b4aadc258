#include "tests/support/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "env/sim/rules/digest.h"

namespace yard::testing {

PreemptionCosts no_costs() {
  return {.save_us = 0, .restore_us = 0, .restore_large_us = 0, .small_gpus = 8};
}

std::vector<Job> jobs_of(const std::vector<JobLine>& lines) {
  std::vector<Job> jobs;
  for (const JobLine& line : lines) {
    Job job;
    job.id = std::string(1, static_cast<char>('a' + jobs.size()));
    job.submit_us = std::llround(line.submit_s * kSecond);
    job.run_us = std::llround(line.run_s * kSecond);
    job.gpus = line.gpus;
    jobs.push_back(job);
  }
  return jobs;
}

std::vector<Job> random_jobs(Rng rng, const RandomJobs& options) {
  std::vector<Job> jobs;
  int64_t at_us = 0;
  for (int32_t j = 0; j < options.count; ++j) {
    if (rng.uniform() >= options.simultaneous) {
      at_us += std::llround(options.mean_gap_s * rng.exponential()) * kSecond;
    }
    Job job;
    job.id = std::to_string(j);
    job.submit_us = at_us;
    job.run_us = std::llround(options.mean_run_s * rng.exponential() * kSecond);
    job.gpus = options.sizes[rng.below(static_cast<uint32_t>(options.sizes.size()))];
    job.user = "u" + std::to_string(rng.below(static_cast<uint32_t>(options.users)));
    jobs.push_back(job);
  }
  return jobs;
}

std::unique_ptr<Policy> make_policy(const std::string& text) {
  Settings settings;
  std::string name;
  for (const std::string_view word : split(text, ' ')) {
    if (name.empty()) {
      name = word;
    } else {
      settings.overlay(word, "test");
    }
  }
  return PolicyRegistry::make(name, settings);
}

namespace {

Trace trace_of(const std::vector<Job>& jobs) {
  Trace trace;
  trace.source = trace.format = "test";
  trace.jobs = jobs;
  return trace;
}

}  // namespace

Scene::Scene(const std::string& cluster, const std::vector<Job>& jobs, const PreemptionCosts& costs)
    : Scene(load_cluster(cluster), jobs, costs) {}

Scene::Scene(const ClusterSpec& cluster, const std::vector<Job>& jobs, const PreemptionCosts& costs,
             const GpuSharingConflicts& pair_conflicts)
    : trace_(trace_of(jobs)),
      cluster_(cluster),
      spec_(cluster_),
      workload_(trace_, cluster_, pair_conflicts),
      fixed_{spec_.columns(), workload_.jobs().columns(), costs} {
  fixed_.rated = fixed_.spec.overloads;
}

void Scene::set_speeds(const SpeedColumns& speeds, const std::vector<int32_t>& classes) {
  workload_.set_speed_classes(classes);
  fixed_.jobs = workload_.jobs().columns();
  fixed_.speed = speeds;
  fixed_.rated = true;
}

void Scene::set_faults(std::vector<Fault> faults) {
  workload_.set_faults(std::move(faults));
  fixed_.faults = true;
}

SceneRunner::SceneRunner(const Scene& scene, const Policy& policy)
    : scene_(scene),
      policy_(policy),
      world_(scene.fixed(), scene.size()),
      before_(scene.fixed(), scene.size()),
      view_(world_.fixed(), world_.state(), policy.level(),
            policy.level() >= InformationLevel::kNoisyOracle ? scene.truth().work_us : nullptr),
      draft_(world_.fixed(), world_.state()),
      jobs_(static_cast<size_t>(scene.size())),
      done_us_(static_cast<size_t>(scene.size()), 0),
      failed_(static_cast<size_t>(scene.size()), 0),
      checker_(scene.fixed()) {
  world_.reset(0, scene.size());
  memory_.reset(policy.memory_bytes(view_));
}

bool SceneRunner::broken(const std::string& what) {
  trouble_ = what;
  ADD_FAILURE() << what << " at " << format_seconds(world_.state().head->now_us) << " s, event "
                << events_;
  return false;
}

// Runs the step checker. Checks that work never decreases without a failure nor exceeds the job's.
bool SceneRunner::holds() {
  const SimState& s = world_.state();
  checker_.observe(s);
  if (!checker_.broken().empty()) return broken(checker_.broken());
  for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
    const Phase phase = s.phase[slot];
    if (phase == Phase::kFree) continue;
    const auto j = static_cast<size_t>(s.job[slot]);
    double done = s.work_done_us[slot];
    if (phase == Phase::kRunning) {
      done += static_cast<double>(s.head->now_us - s.since_us[slot]) * s.rate[slot];
    }
    const auto work = static_cast<double>(scene_.truth().work_us[j]);
    const bool lossless = !world_.fixed().faults || s.failed[slot] == failed_[j];
    if (world_.fixed().faults) failed_[j] = s.failed[slot];
    if (lossless && done < done_us_[j])
      return broken("work was lost by job " + scene_.jobs()[j].id);
    // An end is rounded up to a whole microsecond. Excess work is below that of one microsecond,
    // plus the rounding of a double which holds hours in microseconds.
    const double excess = phase == Phase::kDone ? std::max(s.rate[slot], 1.0) + 1e-6 : 0;
    if (done > work + excess) return broken("too much work by job " + scene_.jobs()[j].id);
    // Work divided by an inexact rate and multiplied by it again may lose its last bits.
    if (phase == Phase::kDone && !s.ended[slot] && done < work * (1 - 1e-14)) {
      return broken("an end before the work is done");
    }
    done_us_[j] = done;
  }
  return true;
}

bool SceneRunner::advance() {
  SimState& s = world_.state();
  if (failed() || all_done(s)) return false;
  if (!world_.advance(scene_.truth())) return broken("jobs wait for ever");
  ++events_;
  if (events_ > 10'000 * (scene_.size() + 10)) return broken("no end of events");
  for (int32_t i = 0; i < s.head->num_changed; ++i) {
    const int32_t slot = s.changed[i];
    if (s.phase[slot] != Phase::kDone) continue;
    JobOutcome& job = jobs_[static_cast<size_t>(s.job[slot])];
    job = {s.first_start_us[slot], s.head->now_us, s.preempted[slot], s.started[slot] - 1};
    job.ended_early = s.ended[slot] != 0;
  }
  return holds();
}

// The draft has changed the state already. The same plan, executed in two phases on the state
// before the decision, must be legal and lead to the same state.
bool SceneRunner::decide() {
  before_.copy_from(world_);
  draft_.reset();
  policy_.decide(view_, memory_, draft_);
  const Plan& plan = draft_.plan();
  SimState& s = world_.state();
  if (plan.wake_us != kNever) s.head->timer_us = plan.wake_us;
  const SimState& b = before_.state();
  const std::string why = flaw_of_decision(before_.fixed(), b, plan);
  if (!why.empty()) return broken("illegal plan: " + why);
  execute(before_.fixed(), before_.state(), plan);
  if (digest(world_.fixed(), s) != digest(before_.fixed(), b)) {
    return broken("the plan does not lead where its draft stands");
  }
  if (plan.wake_us <= s.head->now_us) return broken("asks to be woken at once");
  return holds();
}

void SceneRunner::copy_from(const SceneRunner& other) {
  world_.copy_from(other.world_);
  memory_ = other.memory_;
  draft_.reset();
  jobs_ = other.jobs_;
  done_us_ = other.done_us_;
  failed_ = other.failed_;
  checker_ = other.checker_;
  events_ = other.events_;
}

int64_t total_jct_us(const Scene& scene, const std::vector<JobOutcome>& jobs) {
  int64_t sum = 0;
  for (size_t j = 0; j < jobs.size(); ++j) sum += jobs[j].end_us - scene.jobs()[j].submit_us;
  return sum;
}

}  // namespace yard::testing
