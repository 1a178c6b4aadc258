// The clock and the transitions of jobs.
#include "tests/reference/world_reference.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "tests/reference/world_reference_now.h"

namespace yard::reference {

WorldEnd play_world(const SlowWorld& world, const std::string& policy,
                    const std::string& placement) {
  return SlowSimulator(world, policy, placement).play();
}

SlowSimulator::SlowSimulator(const SlowWorld& world, const std::string& policy,
                             const std::string& placement)
    : world_(world),
      policy_(policy),
      placement_(placement),
      link_bytes_per_s_(link_capacities(world.cluster)),
      state_(world.cluster) {
  state_.jobs.resize(world.jobs.size());
  state_.end.jobs.resize(world.jobs.size());
  state_.cluster.pair_conflicts = world.pair_conflicts;
  for (const Job& j : world.jobs) {
    requests_.push_back(request_of(j, world.cluster));
    const auto shares = [](const RoleGroup& g) { return g.task.gpu_milli > 0; };
    const bool any = std::any_of(j.groups.begin(), j.groups.end(), shares);
    if (any && !world.kinds.empty()) requests_.back().kind = world.kinds[requests_.size() - 1];
  }
  state_.cluster.now_us = world.jobs.empty() ? 0 : world.jobs[0].submit_us;
  for (const Outage& outage : world.outages) {
    if (outage.at_us >= now_us()) outages_.push_back(outage);  // the others never happen
    Outage over = outage;                                      // the end of a notice
    over.at_us += outage.notice_us;
    over.kind = Outage::kFail;
    const bool notice = outage.kind == Outage::kReclaim && over.at_us < over.until_us;
    if (notice && over.at_us >= now_us()) outages_.push_back(over);
  }
  const auto place_in_line = [](const Outage& o) {
    return std::tuple(o.at_us, o.node, o.gpus, o.kind, o.until_us, o.notice_us);
  };
  std::sort(outages_.begin(), outages_.end(),
            [&](const Outage& a, const Outage& b) { return place_in_line(a) < place_in_line(b); });
}

// Order within one moment: ends by job, then faults, arrivals, and the policy. GPUs whose repair is
// due are back before the next fault: `Cluster::down`.
WorldEnd SlowSimulator::play() {
  while (!over()) {
    update_speeds();
    const int64_t next = next_us();
    if (next == kForever) break;  // a job waits forever
    pass_time(next);
    for (int j = 0; j < size(); ++j) {
      while (phase_end_us(j) <= now_us()) end_phase(j);
    }
    while (state_.next_outage < outages_.size() && outages_[state_.next_outage].at_us <= now_us()) {
      happen(outages_[state_.next_outage++]);
    }
    for (int j = 0; j < size(); ++j) {
      if (at(j).is != JobPhase::kToCome || job(j).submit_us > now_us()) continue;
      at(j).is = JobPhase::kBlocked;
      if (ready(j)) queue(j);
    }
    if (state_.timer_us <= now_us()) state_.timer_us = kForever;
    decide();
  }
  state_.end.end_us = over() ? now_us() : -1;
  return state_.end;
}

// --- Clock ---------------------------------------------------------------------------------------

bool SlowSimulator::over() {
  for (int j = 0; j < size(); ++j) {
    if (at(j).is != JobPhase::kDone) return false;
  }
  return true;
}

int64_t SlowSimulator::phase_end_us(int j) {
  const LiveJob& live = at(j);
  if (live.is == JobPhase::kStarting || live.is == JobPhase::kSaving) return live.until_us;
  if (live.is != JobPhase::kRunning) return kForever;
  const double wall = std::ceil((work(j) - live.done) / live.speed);
  return live.since_us + static_cast<int64_t>(std::max(wall, 0.0));
}

int64_t SlowSimulator::next_us() {
  int64_t next = state_.timer_us;
  for (int j = 0; j < size(); ++j) {
    next = std::min(next, phase_end_us(j));
    if (at(j).is == JobPhase::kToCome) next = std::min(next, job(j).submit_us);
  }
  for (const Outage& outage : outages_) {
    if (outage.until_us > now_us()) next = std::min(next, outage.until_us);
  }
  if (state_.next_outage < outages_.size()) {
    next = std::min(next, outages_[state_.next_outage].at_us);
  }
  return next;
}

void SlowSimulator::pass_time(int64_t to_us) {
  const int64_t dt_us = to_us - now_us();
  for (int j = 0; j < size(); ++j) {
    const bool here = at(j).is != JobPhase::kToCome && at(j).is != JobPhase::kDone;
    state_.end.job_time_us += here ? dt_us : 0;
  }
  const Cluster& cluster = state_.cluster;
  int free = 0;
  for (int m = 0; m < static_cast<int>(cluster.nodes.size()); ++m) free += cluster.free_on(m);
  const int down = cluster.idle_and_down();
  state_.end.held_time_us += dt_us * (cluster.total() - free - down);
  state_.end.down_time_us += dt_us * down;
  state_.cluster.now_us = to_us;
}

void SlowSimulator::end_phase(int j) {
  LiveJob& live = at(j);
  if (live.is == JobPhase::kSaving) return queue(j);
  if (live.is == JobPhase::kStarting) {
    live.is = JobPhase::kRunning;
    live.since_us = live.began_us = now_us();
    return;
  }
  run_until_now(j);
  state_.cluster.leave(j);
  live.is = JobPhase::kDone;
  end_of(j).end_us = now_us();
  for (int k = 0; k < size(); ++k) {
    if (at(k).is == JobPhase::kBlocked && ready(k)) queue(k);
  }
}

// Whether all its predecessors have ended. Those that are not in the workload count as ended.
bool SlowSimulator::ready(int j) {
  for (int k = 0; k < size(); ++k) {
    const auto& after = job(j).after;
    const bool awaited = std::find(after.begin(), after.end(), job(k).id) != after.end();
    if (awaited && at(k).is != JobPhase::kDone) return false;
  }
  return true;
}

void SlowSimulator::queue(int j) {
  at(j).is = JobPhase::kWaiting;
  at(j).since_us = now_us();
  at(j).queued = ++state_.entries;
}

// Whether the fault takes all GPUs of its node, or the node has none: then the node is down.
bool SlowSimulator::takes_all(const Outage& outage) {
  const size_t gpus = state_.cluster.nodes[static_cast<size_t>(outage.node)].size();
  for (size_t g = 0; g < gpus; ++g) {
    if ((outage.gpus >> g & 1) == 0) return false;
  }
  return true;
}

// The first job after `last` that holds any of the GPUs, or anything on a node that fails as a
// whole; -1 if none does.
int SlowSimulator::holder_of(const Outage& outage, int last) {
  int first = -1;
  for (const Task& task : state_.cluster.tasks) {
    if (task.node != outage.node) continue;
    bool hit = takes_all(outage);
    for (const int g : task.gpus) hit = hit || (outage.gpus >> g & 1) != 0;
    if (hit && task.job > last && (first < 0 || task.job < first)) first = task.job;
  }
  return first;
}

void SlowSimulator::happen(const Outage& outage) {
  std::vector<Gpu>& gpus = state_.cluster.nodes[static_cast<size_t>(outage.node)];
  for (size_t g = 0; g < gpus.size(); ++g) {
    if ((outage.gpus >> g & 1) == 0) continue;
    gpus[g].down_until_us = std::max(gpus[g].down_until_us, outage.until_us);
  }
  if (takes_all(outage)) {
    int64_t& closed_us = state_.cluster.closed_until_us[static_cast<size_t>(outage.node)];
    closed_us = std::max(closed_us, outage.until_us);
  }
  if (outage.kind == Outage::kDrain) return;
  for (int j = holder_of(outage, -1); j >= 0; j = holder_of(outage, j)) {
    const int64_t save_us = cost_us(job(j).save_us, world_.charges.save_us);
    const bool in_time = at(j).is != JobPhase::kRunning || save_us <= outage.notice_us;
    if (outage.kind == Outage::kFail) {
      fail(j);
    } else if (in_time) {
      preempt(j);
    }
  }
}

// --- Transitions of a job ------------------------------------------------------------------------

// Whether its tenant may hold that many more GPUs.
bool SlowSimulator::within_tenant_limit(int j) {
  const int t = request(j).tenant;
  if (t < 0) return true;
  const Tenant& tenant = world_.cluster.tenants[static_cast<size_t>(t)];
  int holds = request(j).gpus;
  for (const int k : holding()) holds += request(k).tenant == t ? request(k).gpus : 0;
  const bool lends = tenant.may_borrow || holds <= tenant.quota_gpus;
  return lends && (tenant.limit_gpus == 0 || holds <= tenant.limit_gpus);
}

bool SlowSimulator::start(int j) {
  if (!within_tenant_limit(j)) return false;
  const auto seats = state_.cluster.place(request(j), placement_);
  if (seats) start_at(j, *seats);
  return seats.has_value();
}

// Waits until its GPUs are vacated and its own save is complete. A job with work done restores.
void SlowSimulator::start_at(int j, const std::vector<GroupTasks>& seats) {
  get_ready(j, state_.cluster.occupy(j, request(j), seats));
}

void SlowSimulator::get_ready(int j, int64_t vacated_us) {
  LiveJob& live = at(j);
  int64_t ready_us = std::max(live.saved_us, vacated_us);
  live.speed = isolated_speed(j).alone;
  const Charges& c = world_.charges;
  if (live.done > 0) {
    const int64_t usual_us = request(j).gpus <= c.small_gpus ? c.restore_us : c.restore_large_us;
    ready_us += cost_us(job(j).restore_us, usual_us);
  }
  live.is = ready_us > now_us() ? JobPhase::kStarting : JobPhase::kRunning;
  live.since_us = live.began_us = now_us();
  live.until_us = ready_us;
  if (end_of(j).start_us < 0) end_of(j).start_us = now_us();
  ++end_of(j).starts;
}

// The cost that the job states, else the usual cost.
int64_t SlowSimulator::cost_us(int64_t stated_us, int64_t usual_us) const {
  if (stated_us < 0) return usual_us;
  return static_cast<int64_t>(std::floor(static_cast<double>(stated_us) * world_.charges.scale));
}

// The job loses its GPUs and waits again, once a save in progress is complete.
void SlowSimulator::stop(int j) {
  state_.cluster.leave(j);
  if (at(j).saved_us <= now_us()) return queue(j);
  at(j).is = JobPhase::kSaving;
  at(j).until_us = at(j).saved_us;
}

// Checkpoints are at whole multiples of their interval, from the start of the run.
void SlowSimulator::run_until_now(int j) {
  LiveJob& live = at(j);
  const int64_t ran_us = now_us() - live.since_us;
  const int64_t every_us = world_.charges.checkpoint_us;
  const int64_t last_us = live.began_us + (now_us() - live.began_us) / every_us * every_us;
  if (last_us > live.since_us) {
    live.kept = live.done + static_cast<double>(last_us - live.since_us) * live.speed;
  }
  const IsolatedSpeed mine = isolated_speed(j);
  state_.end.moved_bytes += 1e-6 * static_cast<double>(ran_us) *
                            static_cast<double>(mine.bytes_per_s) *
                            static_cast<double>(mine.nodes.size()) * (live.speed / mine.alone);
  live.attained_us += ran_us;
  live.done += static_cast<double>(ran_us) * live.speed;
  live.since_us = now_us();
}

void SlowSimulator::preempt(int j) {
  ++end_of(j).preemptions;
  const bool ran = at(j).is == JobPhase::kRunning;  // else there is nothing to save
  if (ran) run_until_now(j);
  if (ran) at(j).kept = at(j).done;
  if (ran) at(j).saved_us = now_us() + cost_us(job(j).save_us, world_.charges.save_us);
  state_.cluster.vacate(j, ran ? at(j).saved_us : now_us());
  stop(j);
}

// Work since the last checkpoint is lost.
void SlowSimulator::fail(int j) {
  ++end_of(j).failures;
  LiveJob& live = at(j);
  if (live.is == JobPhase::kRunning) {
    run_until_now(j);
    const int64_t lost_us = (now_us() - live.began_us) % world_.charges.checkpoint_us;
    state_.end.lost_time_us += lost_us * state_.cluster.whole_gpus(j);
    live.done = live.kept;
  }
  stop(j);
}

}  // namespace yard::reference
