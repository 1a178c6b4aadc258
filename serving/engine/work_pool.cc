#include "serving/engine/work_pool.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace yard {
namespace {

constexpr size_t kMaxIdleClients = 1024;  // that are remembered

}  // namespace

struct WorkPool::Work final : WorkPool::Ticket {
  enum class Stage { kWaiting, kWorking, kStuck, kOver };

  Work(std::shared_ptr<Shared> of, WorkItem&& submitted)
      : shared(std::move(of)), item(std::move(submitted)) {}
  void abandon() override;
  void charge_client(size_t cost) override;

  std::shared_ptr<Shared> shared;
  WorkItem item;
  double start = 0;  // virtual time at which its client's share allows it
  uint64_t serial = 0;
  Stage stage = Stage::kWaiting;
};

// State shared by the threads. It lives as long as the last of them.
struct WorkPool::Shared {
  using Queue = std::map<std::pair<double, uint64_t>, std::shared_ptr<Work>>;

  struct Client {
    double finish = 0;  // virtual time up to which its submitted work has used its share
    int waiting = 0;
    size_t cost = 0;  // of what waits
  };

  Queue& queue_of(const Work& work) { return work.item.cost <= options.small_cost ? small : large; }

  // Returns the virtual time at which the work that the client is charged for may start.
  double charge(Client& client, size_t cost_of_work) {
    const double start = std::max(now, client.finish);
    client.finish = start + static_cast<double>(cost_of_work);
    last_finish = std::max(last_finish, client.finish);
    return start;
  }

  void forget_idle_clients() {
    if (clients.size() <= kMaxIdleClients) return;
    std::erase_if(clients, [this](const auto& entry) {
      return entry.second.waiting == 0 && entry.second.finish <= now;
    });
  }

  // Requires: a thread is idle and no work waits. Then no client owes another one its share.
  void hand_over(const std::shared_ptr<Work>& work) {
    now = last_finish;
    forget_idle_clients();
    charge(clients[work->item.client], work->item.cost);
    handed = work;
  }

  void enter(const std::shared_ptr<Work>& work) {
    Client& client = clients[work->item.client];
    work->serial = ++last;
    work->start = charge(client, work->item.cost);
    ++client.waiting;
    client.cost += work->item.cost;
    cost += work->item.cost;
    queue_of(*work).emplace(std::pair(work->start, work->serial), work);
  }

  void leave(const Work& work) {
    queue_of(work).erase({work.start, work.serial});
    Client& client = clients[work.item.client];
    --client.waiting;
    client.cost -= work.item.cost;
    cost -= work.item.cost;
    forget_idle_clients();
  }

  int waiting() const {
    return static_cast<int>(small.size() + large.size()) + (handed == nullptr ? 0 : 1);
  }

  bool has_room_for(const WorkItem& item) const {
    return waiting() < options.max_waiting && item.cost <= options.max_waiting_cost - cost;
  }

  // Takes out the latest work of the client with the most waiting work. Returns null if that is the
  // client of `item`, or nothing waits.
  std::shared_ptr<Work> give_way(const WorkItem& item) {
    const auto most =
        std::ranges::max_element(clients, {}, [](const auto& entry) { return entry.second.cost; });
    if (most == clients.end() || most->second.waiting == 0) return nullptr;
    const auto own = clients.find(item.client);
    const size_t mine = item.cost + (own == clients.end() ? 0 : own->second.cost);
    if (most == own || mine >= most->second.cost) return nullptr;
    std::shared_ptr<Work> latest;
    for (const Queue* queue : {&small, &large}) {
      for (const auto& [key, work] : *queue) {
        if (work->item.client != most->first) continue;
        if (latest == nullptr || work->serial > latest->serial) latest = work;
      }
    }
    leave(*latest);
    latest->stage = Work::Stage::kOver;
    return latest;
  }

  bool has_work(bool small_only) const {
    return !small.empty() || (!small_only && (!large.empty() || handed != nullptr));
  }

  // Requires: has_work(small_only).
  std::shared_ptr<Work> take_next(bool small_only) {
    if (!small_only && handed != nullptr) return std::exchange(handed, nullptr);
    const bool from_large = !small_only && !large.empty() &&
                            (small.empty() || large.begin()->first < small.begin()->first);
    const std::shared_ptr<Work> next = (from_large ? large : small).begin()->second;
    now = std::max(now, next->start);
    leave(*next);
    return next;
  }

  Options options;
  std::mutex mutex;
  std::condition_variable changed;        // work arrived, or the pool ends; threads for all work
  std::condition_variable small_changed;  // the same for threads for small work
  std::condition_variable all_over;       // a thread ended or hangs
  Queue small, large;
  std::shared_ptr<Work> handed;  // work that an idle thread takes before all that waits; null: none
  std::unordered_map<std::string, Client> clients;
  // Virtual time: the start of the work taken last, or, if that was handed over, `last_finish`
  // then.
  double now = 0;
  double last_finish = 0;  // latest virtual time up to which a client has used its share
  uint64_t last = 0;
  size_t cost = 0;  // of what waits
  int alive = 0;
  int stuck = 0;
  int idle = 0;  // threads that take work of any cost and have none
  bool ending = false;
};

void WorkPool::Work::abandon() {
  WorkItem dropped;  // destroyed after the lock is released
  const std::lock_guard lock(shared->mutex);
  if (stage == Stage::kWaiting) {
    stage = Stage::kOver;
    if (shared->handed.get() == this) {
      shared->handed = nullptr;
    } else {
      shared->leave(*this);
    }
    dropped = std::move(item);
  } else if (stage == Stage::kWorking) {
    stage = Stage::kStuck;
    ++shared->stuck;
    shared->all_over.notify_all();
  }
}

void WorkPool::Work::charge_client(size_t cost) {
  const std::lock_guard lock(shared->mutex);
  shared->charge(shared->clients[item.client], cost);
}

WorkPool::WorkPool(const Options& options) : shared_(std::make_shared<Shared>()) {
  shared_->options = options;
  shared_->alive = options.threads + options.small_threads;
  for (int i = 0; i < shared_->alive; ++i) {
    std::thread([shared = shared_, small_only = i >= options.threads] {
      run(shared, small_only);
    }).detach();
  }
}

WorkPool::~WorkPool() {
  std::unique_lock lock(shared_->mutex);
  shared_->ending = true;
  shared_->changed.notify_all();
  shared_->small_changed.notify_all();
  shared_->all_over.wait(lock, [this] { return shared_->alive == shared_->stuck; });
  std::vector<std::shared_ptr<Work>> left;  // behind threads that hang
  for (Shared::Queue* queue : {&shared_->small, &shared_->large}) {
    for (auto& [key, work] : *queue) {
      work->stage = Work::Stage::kOver;
      left.push_back(std::move(work));
    }
    queue->clear();
  }
  if (shared_->handed != nullptr) {
    shared_->handed->stage = Work::Stage::kOver;
    left.push_back(std::exchange(shared_->handed, nullptr));
  }
  lock.unlock();
  for (const auto& work : left) drop(*work);
}

std::shared_ptr<WorkPool::Ticket> WorkPool::submit(WorkItem item) {
  std::vector<std::shared_ptr<Work>> dropped;
  std::shared_ptr<Work> ticket;
  {
    const std::lock_guard lock(shared_->mutex);
    Shared& pool = *shared_;
    if (pool.stuck >= pool.alive) return nullptr;
    bool has_room = pool.has_room_for(item);
    while (!has_room) {
      std::shared_ptr<Work> latest = pool.give_way(item);
      if (latest == nullptr) break;
      dropped.push_back(std::move(latest));
      has_room = pool.has_room_for(item);
    }
    if (has_room) {
      ticket = std::make_shared<Work>(shared_, std::move(item));
      pool.enter(ticket);
      pool.changed.notify_one();
      if (ticket->item.cost <= pool.options.small_cost) pool.small_changed.notify_one();
    }
  }
  for (const auto& work : dropped) drop(*work);
  return ticket;
}

std::shared_ptr<WorkPool::Ticket> WorkPool::submit_if_idle(WorkItem item) {
  const std::lock_guard lock(shared_->mutex);
  Shared& pool = *shared_;
  if (pool.idle == 0 || pool.waiting() > 0 || !pool.has_room_for(item)) return nullptr;
  auto ticket = std::make_shared<Work>(shared_, std::move(item));
  pool.hand_over(ticket);
  pool.changed.notify_one();
  return ticket;
}

// The item goes: what it captured may own the ticket.
void WorkPool::drop(Work& work) {
  const WorkItem item = std::exchange(work.item, {});
  if (item.drop) item.drop();
}

int WorkPool::num_stuck() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->stuck;
}

int WorkPool::waiting() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->waiting();
}

void WorkPool::run(const std::shared_ptr<Shared>& shared, bool small_only) {
  std::unique_lock lock(shared->mutex);
  std::condition_variable& changed = small_only ? shared->small_changed : shared->changed;
  for (;;) {
    shared->idle += small_only ? 0 : 1;
    changed.wait(lock, [&] { return shared->ending || shared->has_work(small_only); });
    shared->idle -= small_only ? 0 : 1;
    if (!shared->has_work(small_only)) break;
    const std::shared_ptr<Work> work = shared->take_next(small_only);
    work->stage = Work::Stage::kWorking;
    lock.unlock();
    work->item.work();
    work->item = {};  // destroy captured objects before taking the lock
    lock.lock();
    if (work->stage == Work::Stage::kStuck) --shared->stuck;
    work->stage = Work::Stage::kOver;
  }
  --shared->alive;
  shared->all_over.notify_all();
}

}  // namespace yard
