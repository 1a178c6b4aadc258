// The heuristics, each by what it means.
#include <algorithm>
#include <limits>

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

double Game::left(int j) {
  const int64_t ran_us = at(j).is == Is::kRunning ? now_us() - at(j).since_us : 0;
  return work(j) - (at(j).done + static_cast<double>(ran_us) * at(j).speed);
}

int Game::weight(int j) const { return std::max(asks(j).gpus, 1); }

// Service is time x GPUs; 3250 and 7200 GPU seconds end the first and the second queue.
int Game::las_queue(int j) {
  const int64_t service = attained_us(j) * weight(j);
  return service >= 7'200'000'000 ? 2 : service >= 3'250'000'000 ? 1 : 0;
}

// Lower goes first.
double Game::key(int j) {
  if (policy_ == "fifo" || policy_ == "backfill") return static_cast<double>(at(j).queued);
  if (policy_ == "las") return las_queue(j) - (at(j).is == Is::kWaiting ? 0.0 : 0.5);
  return policy_ == "srsf" ? left(j) * weight(j) : left(j);
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

// GPUs are given out by number in the order of all jobs, but not to who waits and asks for the same
// as any in `passed`; then who lost them goes, who won them starts. Returns who won but finds no
// place.
std::vector<int> Game::give_out_anew(const std::vector<int>& order,
                                     const std::vector<int>& passed) {
  int64_t milli = 1000 * int64_t{now_.cluster.total() - now_.cluster.idle_and_down()};
  std::vector<int> losers, winners, refused;
  std::vector<int64_t> room;  // by tenant: GPUs that it may still get
  for (const Tenant& t : world_.cluster.tenants) {
    int64_t most = t.limit_gpus > 0 ? t.limit_gpus : std::numeric_limits<int64_t>::max();
    if (!t.may_borrow) most = std::min<int64_t>(most, t.quota_gpus);
    room.push_back(most);
  }
  for (const int j : order) {
    const bool waits = at(j).is == Is::kWaiting;
    if (waits && alike_among(passed, j)) continue;
    const int tenant = asks(j).tenant;
    const bool allowed = tenant < 0 || asks(j).gpus <= room[static_cast<size_t>(tenant)];
    const bool fits = allowed && asks(j).milli() <= milli;
    if (fits) milli -= asks(j).milli();
    if (fits && tenant >= 0) room[static_cast<size_t>(tenant)] -= asks(j).gpus;
    if (fits && waits) winners.push_back(j);
    if (!fits && !waits) losers.push_back(j);
  }
  for (const int j : losers) preempt(j);
  for (const int j : winners) {
    if (!start(j) && !make_room(j, order)) refused.push_back(j);
  }
  return refused;
}

// Nobody is stopped for a job that then finds no place: it is passed over, and all is tried again.
void Game::decide_anew() {
  std::vector<int> all = holding();
  for (const int j : waiting()) all.push_back(j);
  const std::vector<int> order = in_order(all);
  const Now before = now_;
  std::vector<int> passed;
  for (;;) {
    const std::vector<int> refused = give_out_anew(order, passed);
    if (refused.empty()) break;
    passed.insert(passed.end(), refused.begin(), refused.end());
    now_ = before;
  }
  start_in_order();
}

// Enough GPUs are free but lie badly: clears the node on which the fewest GPUs of later jobs have
// to leave. Returns whether the job started there.
bool Game::make_room(int j, const std::vector<int>& order) {
  const int wanted = asks(j).gpus;
  if (!asks(j).plain) return false;
  std::vector<int> later;  // the last in order first
  for (size_t i = order.size(); i-- > 0 && order[i] != j;) {
    const Is is = at(order[i]).is;
    if (is == Is::kStarting || is == Is::kRunning) later.push_back(order[i]);
  }
  int best = -1, best_cost = std::numeric_limits<int>::max();
  for (int m = 0; m < static_cast<int>(now_.cluster.nodes.size()); ++m) {
    if (static_cast<int>(now_.cluster.nodes[static_cast<size_t>(m)].size()) < wanted) continue;
    const Now before = now_;
    const int cost = clear(later, m, wanted);
    if (now_.cluster.free_on(m) >= wanted && cost < best_cost) {
      best = m;
      best_cost = cost;
    }
    now_ = before;
  }
  if (best < 0) return false;
  clear(later, best, wanted);
  start_at(j, {{0, best, wanted}});
  return true;
}

// Stops those of `later` that free GPUs of the node by it, until so many are free. Returns how many
// GPUs they had asked for.
int Game::clear(const std::vector<int>& later, int node, int wanted) {
  int cost = 0;
  for (const int j : later) {
    const int free = now_.cluster.free_on(node);
    if (free >= wanted) break;
    const Now before = now_;
    preempt(j);
    if (now_.cluster.free_on(node) == free) {
      now_ = before;
    } else {
      cost += asks(j).gpus;
    }
  }
  return cost;
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
