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

  void abandon() override;

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

  void enter(const std::shared_ptr<Work>& work) {
    Client& client = clients[work->item.client];
    work->start = std::max(now, client.finish);
    work->serial = ++last;
    client.finish = work->start + static_cast<double>(work->item.cost);
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
    if (clients.size() <= kMaxIdleClients) return;
    std::erase_if(clients, [this](const auto& entry) {
      return entry.second.waiting == 0 && entry.second.finish <= now;
    });
  }

  int waiting() const { return static_cast<int>(small.size() + large.size()); }

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

  std::shared_ptr<Work> take_next(bool small_only) {
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
  std::unordered_map<std::string, Client> clients;
  double now = 0;  // virtual time: the start of the work taken last
  uint64_t last = 0;
  size_t cost = 0;  // of what waits
  int alive = 0;
  int stuck = 0;
  int idle = 0;  // threads for all work that wait for some
  bool ending = false;
};

void WorkPool::Work::abandon() {
  WorkItem dropped;  // destroyed after the lock is released
  const std::lock_guard lock(shared->mutex);
  if (stage == Stage::kWaiting) {
    stage = Stage::kOver;
    shared->leave(*this);
    dropped = std::move(item);
  } else if (stage == Stage::kWorking) {
    stage = Stage::kStuck;
    ++shared->stuck;
    shared->all_over.notify_all();
  }
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
  lock.unlock();
  for (const auto& work : left) {
    if (work->item.drop) work->item.drop();
  }
}

std::shared_ptr<WorkPool::Work> WorkPool::enter(WorkItem item) {
  auto work = std::make_shared<Work>();
  work->shared = shared_;
  work->item = std::move(item);
  shared_->enter(work);
  shared_->changed.notify_one();
  if (work->item.cost <= shared_->options.small_cost) shared_->small_changed.notify_one();
  return work;
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
    if (has_room) ticket = enter(std::move(item));
  }
  for (const auto& work : dropped) {
    if (work->item.drop) work->item.drop();
  }
  return ticket;
}

std::shared_ptr<WorkPool::Ticket> WorkPool::submit_if_idle(WorkItem item) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->idle == 0 || shared_->waiting() > 0 || !shared_->has_room_for(item)) return nullptr;
  return enter(std::move(item));
}

int WorkPool::stuck() const {
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
  const auto has_work = [&] {
    return !shared->small.empty() || (!small_only && !shared->large.empty());
  };
  for (;;) {
    shared->idle += small_only ? 0 : 1;
    changed.wait(lock, [&] { return shared->ending || has_work(); });
    shared->idle -= small_only ? 0 : 1;
    if (!has_work()) break;
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
