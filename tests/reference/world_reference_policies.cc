// The heuristics, each by what it means.
#include <algorithm>

#include "tests/reference/world_reference_now.h"

namespace yard::reference {

// --- what they go by
// ------------------------------------------------------------------------------

std::vector<int> Game::those(bool (*wanted)(Is)) {
  std::vector<int> out;
  for (int j = 0; j < size(); ++j) {
    if (wanted(at(j).is)) out.push_back(j);
  }
  return out;
}

std::vector<int> Game::waiting() {
  return those([](Is is) { return is == Is::kWaiting; });
}

std::vector<int> Game::holding() {
  return those([](Is is) { return is == Is::kStarting || is == Is::kRunning; });
}

int64_t Game::attained_us(int j) {
  return at(j).attained_us + (at(j).is == Is::kRunning ? now_us() - at(j).since_us : 0);
}

// As a line over time, times `weight`: the written order of the sums decides near ties.
double Game::left(int j, double weight) {
  const LiveJob& live = at(j);
  if (live.is != Is::kRunning) return (work(j) - live.done) * weight;
  const double at_zero = work(j) - live.done + static_cast<double>(live.since_us) * live.speed;
  return at_zero * weight - live.speed * weight * static_cast<double>(now_us());
}

int Game::weight(int j) const { return std::max(asks(j).gpus, 1); }

// Service is time x GPUs; 3250 and 7200 GPU seconds end the first and the second queue.
int Game::las_queue(int j) {
  const int64_t service = attained_us(j) * weight(j);
  return service >= 7'200'000'000 ? 2 : service >= 3'250'000'000 ? 1 : 0;
}

// Lower goes first.
double Game::key(int j) {
  if (policy_ == "fifo" || policy_ == "greedy") return static_cast<double>(at(j).queued);
  if (policy_ == "las") return las_queue(j) - (at(j).is == Is::kWaiting ? 0.0 : 0.5);
  return left(j, policy_ == "srsf" ? weight(j) : 1);
}

// Equal keys in the order of submission.
std::vector<int> Game::in_order(std::vector<int> jobs) {
  std::sort(jobs.begin(), jobs.end());
  std::stable_sort(jobs.begin(), jobs.end(), [this](int a, int b) { return key(a) < key(b); });
  return jobs;
}

// --- what they do
// ---------------------------------------------------------------------------------

void Game::decide() {
  const bool preemptive = policy_ == "srtf" || policy_ == "srsf" || policy_ == "las";
  preemptive ? decide_anew() : start_in_order();
  if (policy_ == "las") ask_for_timer();
}

bool Game::alike_among(const std::vector<int>& jobs, int j) const {
  return std::any_of(jobs.begin(), jobs.end(), [&](int k) { return asks(k).alike(asks(j)); });
}

// What finds no place is passed over (but by fifo), and with it all that ask for the same.
void Game::start_in_order() {
  std::vector<int> refused;
  for (const int j : in_order(waiting())) {
    if (alike_among(refused, j) || start(j)) continue;
    if (policy_ == "fifo") return;
    refused.push_back(j);
  }
}

// Who comes first takes what is free, or else stops holders that come after it. Who finds no place
// even so is passed over, and with it all that ask for the same; but whenever somebody was stopped,
// more may be free than it took, and all are asked again.
void Game::decide_anew() {
  const Now before = now_;
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

// What was decided happens at once: whoever starts waits for all who leave its node, also for those
// that were stopped for the sake of a later one.
void Game::stops_first(const Now& before, const std::vector<int>& begun) {
  const Now wish = now_;
  now_ = before;
  for (const int j : stops_) preempt(j);
  stops_.clear();
  for (const int j : begun) {
    std::vector<Task> those;
    for (const Task& task : wish.cluster.tasks) {
      if (task.job == j) those.push_back(task);
    }
    get_ready(j, now_.cluster.sit_there(those));
  }
}

// Stops the holders that come after the job, the last in order first (only those of its own tenant,
// until it is within the tenant's limit), until it finds a place. Those that are not in the way of
// it, the first in order first, then go on. Who has just been started stays. Returns whether the
// job started.
bool Game::make_room(int j, const std::vector<int>& begun) {
  std::vector<int> both = holding();
  both.push_back(j);
  std::vector<int> later;  // the last in order first
  const std::vector<int> order = in_order(both);
  for (size_t i = order.size(); i-- > 0 && order[i] != j;) {
    if (std::find(begun.begin(), begun.end(), order[i]) == begun.end()) later.push_back(order[i]);
  }
  const Now before = now_;
  const auto stopped = [&](int k) { return at(k).is != before.jobs[static_cast<size_t>(k)].is; };
  const auto place_now = [&] { return now_.cluster.place(asks(j), placement_); };
  for (size_t i = 0; i < later.size() && !within_limit(j); ++i) {
    if (asks(later[i]).tenant == asks(j).tenant) preempt(later[i]);
  }
  std::optional<std::vector<Seats>> seats;
  if (within_limit(j)) seats = place_now();
  for (size_t i = 0; i < later.size() && within_limit(j) && !seats; ++i) {
    if (stopped(later[i])) continue;
    preempt(later[i]);
    seats = place_now();
  }
  std::vector<int> stops;
  for (const int k : later) {
    if (stopped(k)) stops.push_back(k);
  }
  now_ = before;
  if (!seats) return false;
  const bool any_place = asks(j).plain && placement_ != "consolidate";
  for (size_t i = stops.size(); i-- > 0;) {
    std::vector<int> others;
    for (const int stop : stops) {
      if (stop != stops[i]) others.push_back(stop);
    }
    for (const int other : others) preempt(other);
    const bool spared = within_limit(j) && (any_place ? place_now().has_value()
                                                      : now_.cluster.has_room(asks(j), *seats));
    now_ = before;
    if (spared) stops = others;
  }
  for (const int stop : stops) preempt(stop);
  stops_.insert(stops_.end(), stops.begin(), stops.end());
  if (any_place) seats = place_now();
  start_at(j, *seats);
  return true;
}

// The first whole microsecond at which a holder sinks, if anybody waits for it.
void Game::ask_for_timer() {
  if (waiting().empty()) return;
  int64_t wake_us = kForever;
  for (const int j : holding()) {
    if (las_queue(j) == 2) continue;
    const int64_t limit = las_queue(j) == 0 ? 3'250'000'000 : 7'200'000'000;
    const int64_t sinks_at_us = (limit + weight(j) - 1) / weight(j);  // attained by then
    const int64_t from_us = at(j).is == Is::kStarting ? at(j).until_us : now_us();
    wake_us = std::min(wake_us, from_us + sinks_at_us - attained_us(j));
  }
  if (wake_us != kForever) now_.timer_us = wake_us;
}

}  // namespace yard::reference
