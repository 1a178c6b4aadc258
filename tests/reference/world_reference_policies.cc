// The heuristics, written directly from their definitions.
#include <algorithm>

#include "tests/reference/world_reference_now.h"

namespace yard::reference {

// --- Orders --------------------------------------------------------------------------------------

std::vector<int> SlowSimulator::those(bool (*wanted)(JobPhase)) {
  std::vector<int> out;
  for (int j = 0; j < size(); ++j) {
    if (wanted(at(j).is)) out.push_back(j);
  }
  return out;
}

std::vector<int> SlowSimulator::waiting() {
  return those([](JobPhase is) { return is == JobPhase::kWaiting; });
}

std::vector<int> SlowSimulator::holding() {
  return those([](JobPhase is) { return is == JobPhase::kStarting || is == JobPhase::kRunning; });
}

int64_t SlowSimulator::attained_us(int j) {
  return at(j).attained_us + (at(j).is == JobPhase::kRunning ? now_us() - at(j).since_us : 0);
}

// Time left as a line over time, times `weight`. The order of summation decides near ties.
double SlowSimulator::left(int j, double weight) {
  const LiveJob& live = at(j);
  if (live.is != JobPhase::kRunning) return (work(j) - live.done) * weight;
  const double at_zero = work(j) - live.done + static_cast<double>(live.since_us) * live.speed;
  return at_zero * weight - live.speed * weight * static_cast<double>(now_us());
}

int SlowSimulator::weight(int j) const { return std::max(request(j).gpus, 1); }

// Service is time x GPUs; the first and second queue end at 3250 and 7200 GPU-seconds.
int SlowSimulator::las_queue(int j) {
  const int64_t service = attained_us(j) * weight(j);
  return service >= 7'200'000'000 ? 2 : service >= 3'250'000'000 ? 1 : 0;
}

// The queue whose list of running, or of waiting, jobs holds this job; -1 if none does.
int SlowSimulator::las_listed(int j, bool runs) {
  for (int q = 0; q < 3; ++q) {
    const std::vector<int>& list = (runs ? las_runs_ : las_waits_)[q];
    if (std::find(list.begin(), list.end(), j) != list.end()) return q;
  }
  return -1;
}

// Running jobs go first, then those preempted in this decision, the last first, then others.
double SlowSimulator::las_key(int j) {
  constexpr double kQueue = 1e6, kWaits = 5e5;
  const auto place = [&](const std::vector<int>& list) {
    return static_cast<double>(std::find(list.begin(), list.end(), j) - list.begin());
  };
  const int running = las_listed(j, true), waiting = las_listed(j, false);
  if (running < 0) return waiting * kQueue + kWaits + place(las_waits_[waiting]);
  if (at(j).is == JobPhase::kWaiting) return running * kQueue + kWaits - 1 - place(stops_);
  return running * kQueue + place(las_runs_[running]);
}

// Moves a job from the list of running jobs to the front of the waiting ones.
void SlowSimulator::las_wait_in_front(int j) {
  const int q = las_listed(j, true), now = las_queue(j);
  std::erase(las_runs_[q], j);
  std::vector<int>& list = las_waits_[now];
  list.insert(now > q ? list.end() : list.begin(), j);
}

// The first whole microsecond at which the job passes the limit of the queue.
int64_t SlowSimulator::las_demotion_us(int j, int queue) {
  const int64_t limit = queue == 0 ? 3'250'000'000 : 7'200'000'000;
  const int64_t from_us = at(j).is == JobPhase::kStarting ? at(j).until_us : now_us();
  return from_us + (limit + weight(j) - 1) / weight(j) - attained_us(j);
}

void SlowSimulator::las_begin() {
  std::vector<int> entering;
  for (int j = 0; j < size(); ++j) {
    if (at(j).is == JobPhase::kDone) {
      for (int q = 0; q < 3; ++q) std::erase(las_runs_[q], j), std::erase(las_waits_[q], j);
    }
    if (at(j).is == JobPhase::kWaiting && las_listed(j, true) < 0 && las_listed(j, false) < 0) {
      entering.push_back(j);
    }
  }
  for (int q = 2; q >= 0; --q) {
    const std::vector<int> ran = las_runs_[q];
    for (size_t i = ran.size(); i-- > 0;) {
      if (at(ran[i]).is == JobPhase::kWaiting) las_wait_in_front(ran[i]);  // its node failed
    }
  }
  // No job waited when a limit was passed before now, so that job continues as the last of the next
  // queue.
  for (bool again = true; again;) {
    again = false;
    std::vector<std::pair<int64_t, int>> demotions;
    for (const int j : holding()) {
      const int q = las_listed(j, true);
      if (q >= 0 && q < 2) demotions.emplace_back(las_demotion_us(j, q), j);
    }
    std::sort(demotions.begin(), demotions.end());
    if (demotions.empty() || demotions[0].first > now_us()) break;
    const auto [at_us, j] = demotions[0];
    const int q = las_listed(j, true);
    std::erase(las_runs_[q], j);
    if (at_us < now_us()) {
      las_runs_[q + 1].push_back(j);
    } else {
      entering.push_back(j);
    }
    again = true;
  }
  std::sort(entering.begin(), entering.end());
  for (const int j : entering) las_waits_[las_queue(j)].push_back(j);
}

void SlowSimulator::las_settle() {
  std::vector<int> begun;
  for (const int j : in_order(holding())) {
    const bool again = std::find(begun_.begin(), begun_.end(), j) != begun_.end();
    if (again || las_listed(j, true) < 0) begun.push_back(j);
  }
  for (int q = 2; q >= 0; --q) {
    const std::vector<int> ran = las_runs_[q];
    for (size_t i = ran.size(); i-- > 0;) {
      const bool holds =
          at(ran[i]).is == JobPhase::kStarting || at(ran[i]).is == JobPhase::kRunning;
      const bool stopped =
          std::find(las_stops_.begin(), las_stops_.end(), ran[i]) != las_stops_.end();
      if (!holds && stopped) las_wait_in_front(ran[i]);
    }
  }
  for (const int j : begun) {
    for (int q = 0; q < 3; ++q) std::erase(las_runs_[q], j), std::erase(las_waits_[q], j);
    las_runs_[las_queue(j)].push_back(j);
  }
}

// Lower goes first.
double SlowSimulator::key(int j) {
  if (policy_ == "fifo" || policy_ == "greedy") return static_cast<double>(at(j).queued);
  if (policy_ == "las") return las_key(j);
  return left(j, policy_ == "srsf" ? weight(j) : 1);
}

// Equal keys in the order of submission.
std::vector<int> SlowSimulator::in_order(std::vector<int> jobs) {
  std::sort(jobs.begin(), jobs.end());
  std::stable_sort(jobs.begin(), jobs.end(), [this](int a, int b) { return key(a) < key(b); });
  return jobs;
}

// --- Decisions -----------------------------------------------------------------------------------

void SlowSimulator::decide() {
  const bool preemptive = policy_ == "srtf" || policy_ == "srsf" || policy_ == "las";
  if (policy_ == "las") las_begin();
  preemptive ? decide_anew() : start_in_order();
  if (policy_ == "las") las_settle(), ask_for_timer();
}

bool SlowSimulator::alike_among(const std::vector<int>& jobs, int j) const {
  return std::any_of(jobs.begin(), jobs.end(),
                     [&](int k) { return request(k).same_request(request(j)); });
}

// A job that does not fit is skipped (fifo stops there), and with it all identical requests.
void SlowSimulator::start_in_order() {
  std::vector<int> refused;
  for (const int j : in_order(waiting())) {
    if (alike_among(refused, j) || start(j)) continue;
    if (policy_ == "fifo") return;
    refused.push_back(j);
  }
}

// In order, each job takes free GPUs, or else preempts holders that come after it. If this does not
// make enough room, the job is skipped, and with it all identical requests. After each preemption
// more may be free than was needed, so all are considered again.
void SlowSimulator::decide_anew() {
  const WorldState before = state_;
  std::vector<int> begun, refused;
  for (bool again = true; again;) {
    again = false;
    for (const int j : in_order(waiting())) {
      if (alike_among(refused, j)) continue;
      const bool started = start(j);
      if (!started && !make_room(j, begun)) {
        refused.push_back(j);
        continue;
      }
      if (!started) refused.clear();
      begun.push_back(j);
      again = true;
      break;
    }
  }
  stops_first(before, begun);
}

// The changes take effect together: a started job waits for all leaving_requests of its nodes, also
// for those preempted for a later job.
void SlowSimulator::stops_first(const WorldState& before, const std::vector<int>& begun) {
  const WorldState planned = state_;
  state_ = before;
  for (const int j : stops_) preempt(j);
  las_stops_ = stops_, begun_ = begun;
  stops_.clear();
  for (const int j : begun) {
    std::vector<Task> those;
    for (const Task& task : planned.cluster.tasks) {
      if (task.job == j) those.push_back(task);
    }
    get_ready(j, state_.cluster.occupy_gpus(those));
  }
}

// Preempts holders that come after the job, the last in order first, until it fits. While the
// tenant is over its limit, only its own jobs are preempted. Victims that are not in the way then
// continue, the first in order first. Jobs just started stay. Returns whether the job started.
bool SlowSimulator::make_room(int j, const std::vector<int>& begun) {
  std::vector<int> both = holding();
  both.push_back(j);
  std::vector<int> later;  // the last in order first
  const std::vector<int> order = in_order(both);
  for (size_t i = order.size(); i-- > 0 && order[i] != j;) {
    if (std::find(begun.begin(), begun.end(), order[i]) == begun.end()) later.push_back(order[i]);
  }
  const WorldState before = state_;
  const auto stopped = [&](int k) { return at(k).is != before.jobs[static_cast<size_t>(k)].is; };
  const auto place_now = [&] { return state_.cluster.place(request(j), placement_); };
  for (size_t i = 0; i < later.size() && !within_tenant_limit(j); ++i) {
    if (request(later[i]).tenant == request(j).tenant) preempt(later[i]);
  }
  std::optional<std::vector<GroupTasks>> seats;
  if (within_tenant_limit(j)) seats = place_now();
  for (size_t i = 0; i < later.size() && within_tenant_limit(j) && !seats; ++i) {
    if (stopped(later[i])) continue;
    preempt(later[i]);
    seats = place_now();
  }
  std::vector<int> stops;
  for (const int k : later) {
    if (stopped(k)) stops.push_back(k);
  }
  state_ = before;
  if (!seats) return false;
  const bool any_place = request(j).plain && placement_ != "consolidate";
  for (size_t i = stops.size(); i-- > 0;) {
    std::vector<int> others;
    for (const int stop : stops) {
      if (stop != stops[i]) others.push_back(stop);
    }
    for (const int other : others) preempt(other);
    const bool spared =
        within_tenant_limit(j) &&
        (any_place ? place_now().has_value() : state_.cluster.has_room(request(j), *seats));
    state_ = before;
    if (spared) stops = others;
  }
  for (const int stop : stops) preempt(stop);
  stops_.insert(stops_.end(), stops.begin(), stops.end());
  if (any_place) seats = place_now();
  start_at(j, *seats);
  return true;
}

// The first whole microsecond at which a holder changes queue, if any job waits.
void SlowSimulator::ask_for_timer() {
  if (waiting().empty()) return;
  int64_t wake_us = kForever;
  for (const int j : holding()) {
    if (las_queue(j) < 2) wake_us = std::min(wake_us, las_demotion_us(j, las_queue(j)));
  }
  if (wake_us != kForever) state_.timer_us = wake_us;
}

}  // namespace yard::reference
