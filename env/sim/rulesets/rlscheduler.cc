// Heuristic schedulers of RLScheduler's simulator (Zhang et al., SC 2020), on one resource: GPUs
// are counted. A window of jobs, 1024 by default, arrives at an empty cluster.
//
//   fcfs      first come, first served     sjf  shortest requested time first, then first come
//   smallest  fewest GPUs first, then first come
//
// A decision commits to the first job in that order, and no other is decided until it starts. Jobs
// are seen lazily: the clock advances only while the committed job waits for GPUs or no job is
// queued. A step admits the next job of the window if it was submitted by the next end; otherwise
// it ends that job. With backfill=1, before each step, queued jobs start, first come first, if they
// fit and by their requested times end before the committed job's reserved time. That time is
// computed at the commitment, from requested times.
//
// Left out: the functions f1 to f4, wfp and uni, the agent, nodes with several processors that are
// given whole, and jobs that fill the cluster beforehand. Jobs without a run time are dropped, as
// there, and jobs outside the window.

#include <algorithm>
#include <set>
#include <tuple>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/rulesets/job_sim.h"

namespace yard {
namespace {

struct Config {
  int32_t backfill = 0;
  int32_t window = 1024;

  void fields(auto& f) {
    f("backfill", backfill, 0, 1, "1: other jobs may start while the selected job waits");
    f("window", window, 0, INT32_MAX, "number of scored jobs to simulate; 0: all");
  }
};

// A job of the window.
struct Member {
  int64_t number;  // its id, if that is a number
  int32_t j;       // in the workload
  int32_t gpus;
  int64_t submit_us;
  int64_t run_us;
  int64_t requested_us;  // requested time, else the run time in the log
};

// The original reads a log's -1 as a requested time before it gives such jobs a run time.
constexpr int64_t kUnknownRequestUs = -1'000'000;

std::vector<Member> members_of(const Replay& replay, int32_t most) {
  const Workload& workload = replay.workload;
  const JobColumns& jobs = replay.fixed.jobs;
  bool any_scored = false, numbered = true;
  for (int32_t j = replay.first_job; j < replay.end_job; ++j) any_scored |= workload.scored(j);
  std::vector<Member> found;
  for (int32_t j = replay.first_job; j < replay.end_job; ++j) {
    const int64_t run_us = workload.truth().work_us[j];
    if ((any_scored && !workload.scored(j)) || run_us <= 0) continue;
    const Job& job = replay.trace->jobs[static_cast<size_t>(j)];
    const auto number = parse_int(job.id);
    numbered = numbered && number;
    const int64_t requested_us = jobs.limit_us[j] != kNone ? jobs.limit_us[j]
                                 : job.run_unknown         ? kUnknownRequestUs
                                                           : run_us;
    found.push_back({number.value_or(0), j, jobs.gpus[j], jobs.submit_us[j], run_us, requested_us});
  }
  // In the order of their numbers if all ids are numbers, else in that of the trace.
  if (numbered) std::ranges::stable_sort(found, {}, &Member::number);
  if (most > 0) found.resize(std::min(found.size(), static_cast<size_t>(most)));
  return found;
}

class Window {
 public:
  Window(const Replay& replay, const Config& config)
      : policy_(replay.policy),
        backfills_(config.backfill == 1),
        sim_(replay, "rlscheduler"),
        s_(sim_.state()),
        members_(members_of(replay, config.window)) {
    for (const Member& member : members_) arrivals_.push_back(member.j);
    std::sort(arrivals_.begin(), arrivals_.end());
  }

  Outcome run() {
    if (!members_.empty()) admit_next();
    while (!queue_.empty()) {
      sort_newcomers();
      const int32_t committed = std::get<2>(*queue_.begin());
      const int64_t reserved_us = backfills_ ? reserved(committed) : 0;
      while (!fits(committed)) {
        if (backfills_) backfill(reserved_us);
        step();
      }
      start(committed);
      while (queue_.empty() && next_ < members_.size()) step();
    }
    while (!running_.empty()) step();
    return sim_.outcome_at_end();
  }

 private:
  // Members are named by their position in the window.
  struct Running {
    int32_t place;
    int64_t end_us;
    int64_t requested_end_us;
  };
  // Keys end with the position: there are no ties.
  using Key = std::tuple<int64_t, int64_t, int32_t>;
  using ScanKey = std::tuple<int64_t, bool, int64_t, int32_t>;
  // The data of a scan is contiguous: queues are long.
  struct Queued {
    ScanKey key;
    int64_t requested_us;
    int32_t gpus;
  };

  const Member& member(int32_t place) const { return members_[static_cast<size_t>(place)]; }
  bool fits(int32_t place) const { return member(place).gpus <= s_.head->free_gpus; }
  int64_t clock_us() const { return s_.head->now_us; }

  int64_t rank_of(int32_t place) const {
    return policy_ == "sjf"        ? member(place).requested_us
           : policy_ == "smallest" ? member(place).gpus
                                   : 0;
  }
  Key key_of(int32_t place) const { return {rank_of(place), member(place).submit_us, place}; }

  // The order of a backfilling scan. The original sorts one list stably, alternately for decisions
  // and for scans: jobs submitted together keep the last decision's order, and jobs admitted since
  // then come after.
  Queued queued(int32_t place) const {
    const Member& m = member(place);
    const bool newcomer = place >= first_newcomer_;
    return {{m.submit_us, newcomer, newcomer ? 0 : rank_of(place), place}, m.requested_us, m.gpus};
  }

  void insert_to_scan(int32_t place) {
    if (!backfills_) return;
    const Queued one = queued(place);
    scan_.insert(std::ranges::upper_bound(scan_, one.key, {}, &Queued::key), one);
  }

  bool erase_from_scan(int32_t place) {
    const ScanKey key = queued(place).key;
    const auto at = std::ranges::lower_bound(scan_, key, {}, &Queued::key);
    if (at == scan_.end() || at->key != key) return false;
    scan_.erase(at);
    return true;
  }

  void sort_newcomers() {
    std::vector<int32_t> still;  // some have started
    for (auto place = static_cast<int32_t>(next_); --place >= first_newcomer_;) {
      if (erase_from_scan(place)) still.push_back(place);
    }
    first_newcomer_ = static_cast<int32_t>(next_);
    for (const int32_t place : still) insert_to_scan(place);
  }

  // The rules see some jobs late, the cluster does not.
  void pass_to(int64_t at_us) {
    for (; arrived_ < arrivals_.size(); ++arrived_) {
      const int32_t j = arrivals_[arrived_];
      if (sim_.submit_us(j) > at_us) break;
      sim_.advance_to(std::max(sim_.submit_us(j), clock_us()));
      sim_.arrive(j);
    }
    sim_.advance_to(at_us);
  }

  void admit_next() {
    const auto place = static_cast<int32_t>(next_++);
    pass_to(std::max(clock_us(), member(place).submit_us));
    queue_.insert(key_of(place));
    insert_to_scan(place);
  }

  void start(int32_t place) {
    const Member& m = member(place);
    queue_.erase(key_of(place));
    erase_from_scan(place);
    sim_.start_anywhere(m.j);
    running_.push_back({place, clock_us() + m.run_us, clock_us() + m.requested_us});
    sim_.end_event();
  }

  // Running jobs keep the order of the last sort, which decides ties.
  void sort_by(int64_t Running::*end) {
    if (!std::ranges::is_sorted(running_, {}, end)) std::ranges::stable_sort(running_, {}, end);
  }

  // Admits the next job, or ends the next one.
  void step() {
    sort_by(&Running::end_us);
    const int64_t end_us = running_.empty() ? kNever : running_.front().end_us;
    if (next_ < members_.size() && members_[next_].submit_us <= end_us) {
      admit_next();
      return;
    }
    if (running_.empty()) sim_.throw_stuck();
    pass_to(end_us);
    sim_.finish(member(running_.front().place).j, end_us);
    running_.erase(running_.begin());
  }

  // When the committed job could start if all running jobs took their requested time.
  int64_t reserved(int32_t place) {
    if (fits(place)) return clock_us();
    sort_by(&Running::requested_end_us);
    int32_t free = s_.head->free_gpus;
    for (const Running& one : running_) {
      free += member(one.place).gpus;
      if (free >= member(place).gpus) return one.requested_end_us;
    }
    return clock_us();
  }

  void backfill(int64_t reserved_us) {
    const int64_t max_us = reserved_us - clock_us();
    for (size_t i = 0; i < scan_.size() && s_.head->free_gpus > 0;) {
      const Queued& one = scan_[i];
      const bool starts = one.requested_us < max_us && one.gpus <= s_.head->free_gpus;
      starts ? start(std::get<3>(one.key)) : void(++i);  // after a start, the next job is at i
    }
  }

  const std::string& policy_;
  bool backfills_;
  RuleSetSimByJob sim_;
  const SimState& s_;
  std::vector<Member> members_;
  size_t next_ = 0;                // members [next_, end) have not been seen
  std::vector<int32_t> arrivals_;  // jobs of the window by submission
  size_t arrived_ = 0;
  std::set<Key> queue_;
  std::vector<Queued> scan_;    // with backfill: the same jobs, sorted
  int32_t first_newcomer_ = 0;  // members from here on were admitted since the last decision
  std::vector<Running> running_;
};

Outcome replay_rlscheduler(const Replay& replay, const Config& config) {
  return Window(replay, config).run();
}

const RuleSetRegistry::Add<FunctionRuleSet<Config, replay_rlscheduler>> kRlScheduler{
    "rlscheduler",
    {.about = "RLScheduler's simulator: jobs are admitted lazily; one job at a time is committed",
     .source = "RLScheduler, SC 2020",
     .fidelity = "exact second for second on one resource, with backfill=0 or 1; simulates the "
                 "first 1024 scored jobs on an empty cluster",
     .policies = {"fcfs", "sjf", "smallest"},
     .placements = {"count"},
     .oracles = {"sjf"},
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
