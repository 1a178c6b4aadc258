// The pool's promises: fair shares, room for those who have had little, work that hangs, ends.
#include "serving/engine/work_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace yard::testing {
namespace {

// Work that waits until it is let go.
class Gate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --inside_;
    changed_.notify_all();
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for(int inside) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ == inside; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool open_ = false;
};

// The order in which work ran or was dropped.
class Record {
 public:
  void add(const std::string& entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(entry);
  }
  std::vector<std::string> entries() {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> entries_;
};

using Entries = std::vector<std::string>;

TEST(WorkPool, ClientsWithLittleWorkPassThoseWithMuch) {
  Record ran;
  {
    Gate gate;
    WorkPool pool({.threads = 1, .max_waiting = 100});
    pool.submit({"first", 1, [&] { gate.wait(); }});
    gate.wait_for(1);
    for (int i = 0; i < 3; ++i) pool.submit({"large", 100, [&] { ran.add("large"); }});
    for (int i = 0; i < 3; ++i) pool.submit({"small", 10, [&] { ran.add("small"); }});
    gate.open();
  }
  EXPECT_EQ(ran.entries(), (Entries{"large", "small", "small", "small", "large", "large"}));
}

TEST(WorkPool, LargestClientGivesWayIfTheQueueIsFull) {
  Record record;
  {
    Gate gate;
    WorkPool pool({.threads = 1, .max_waiting = 3});
    pool.submit({"first", 1, [&] { gate.wait(); }});
    gate.wait_for(1);
    const auto item = [&](const std::string& client) {
      return WorkItem{client, 10, [&record, client] { record.add(client); },
                      [&record, client] { record.add("no " + client); }};
    };
    for (int i = 0; i < 3; ++i) EXPECT_NE(pool.submit(item("much")), nullptr);
    EXPECT_EQ(pool.submit(item("much")), nullptr);
    EXPECT_NE(pool.submit(item("little")), nullptr);
    EXPECT_EQ(record.entries(), Entries{"no much"});
    EXPECT_EQ(pool.waiting(), 3);
    gate.open();
  }
  EXPECT_EQ(record.entries(), (Entries{"no much", "much", "little", "much"}));
}

TEST(WorkPool, SmallWorkHasAThreadOfItsOwn) {
  Gate gate;
  Record ran;
  WorkPool pool({.threads = 2, .small_threads = 1, .small_cost = 10, .max_waiting = 100});
  for (int i = 0; i < 4; ++i) pool.submit({"large", 100, [&] { gate.wait(); }});
  gate.wait_for(2);
  pool.submit({"small", 1, [&] { ran.add("small"); }});
  while (ran.entries().empty()) std::this_thread::yield();
  gate.open();
}

TEST(WorkPool, BoundsTheCostOfWhatWaits) {
  Gate gate;
  WorkPool pool({.threads = 1, .max_waiting = 100, .max_waiting_cost = 25});
  pool.submit({"first", 1, [&] { gate.wait(); }});
  gate.wait_for(1);
  EXPECT_NE(pool.submit({"a", 10, [] {}}), nullptr);
  EXPECT_NE(pool.submit({"a", 10, [] {}}), nullptr);
  EXPECT_EQ(pool.submit({"a", 10, [] {}}), nullptr);
  EXPECT_EQ(pool.submit({"b", 26, [] {}}), nullptr) << "more than all may wait with";
  EXPECT_NE(pool.submit({"b", 5, [] {}}), nullptr);
  gate.open();
}

TEST(WorkPool, IdleThreadsTakeWorkOnlyIfNoneWaits) {
  Gate gate;
  WorkPool pool({.threads = 1, .small_threads = 1, .small_cost = 10, .max_waiting = 100});
  const WorkItem item{"a", 100, [&] { gate.wait(); }};
  while (pool.submit_if_idle(item) == nullptr) std::this_thread::yield();  // the thread is starting
  gate.wait_for(1);
  EXPECT_EQ(pool.submit_if_idle({"a", 1, [] {}}), nullptr) << "no thread for all work is idle";
  EXPECT_EQ(pool.waiting(), 0);
  gate.open();
  std::shared_ptr<WorkPool::Ticket> ticket;
  while ((ticket = pool.submit_if_idle(item)) == nullptr) std::this_thread::yield();
}

TEST(WorkPool, HandedWorkRunsBeforeWorkThatWaits) {
  for (int turn = 0; turn < 200; ++turn) {
    Record ran;
    {
      WorkPool pool({.threads = 1, .max_waiting = 100});
      pool.submit({"much", 1000, [] {}});
      const WorkItem handed{"much", 1, [&] { ran.add("handed"); }};
      while (pool.submit_if_idle(handed) == nullptr) std::this_thread::yield();
      pool.submit({"little", 1, [&] { ran.add("submitted"); }});
    }
    ASSERT_EQ(ran.entries(), (Entries{"handed", "submitted"}));
  }
}

// As a call does, the work owns its ticket.
TEST(WorkPool, DroppedWorkIsDestroyed) {
  using Owned = std::shared_ptr<WorkPool::Ticket>;
  Gate gate;
  std::vector<std::weak_ptr<Owned>> owners;
  WorkPool pool({.threads = 1, .max_waiting = 2});
  pool.submit({"first", 1, [&] { gate.wait(); }});
  gate.wait_for(1);
  const auto submit = [&](const std::string& client) {
    const auto owner = std::make_shared<Owned>();
    owners.push_back(owner);
    *owner = pool.submit({client, 10, [owner] {}, [owner] {}});
    EXPECT_NE(*owner, nullptr);
  };
  for (const char* client : {"much", "much", "little"}) submit(client);
  EXPECT_FALSE(owners[0].expired());
  EXPECT_TRUE(owners[1].expired()) << "it gave way to the third";
  gate.open();
}

TEST(WorkPool, HangingWorkBlocksItsThreadOnly) {
  const auto gate = std::make_shared<Gate>();
  Record dropped;
  {
    WorkPool pool({.threads = 2, .max_waiting = 10});
    std::vector<std::shared_ptr<WorkPool::Ticket>> tickets;
    for (int i = 0; i < 2; ++i) tickets.push_back(pool.submit({"a", 1, [gate] { gate->wait(); }}));
    gate->wait_for(2);
    const auto never = pool.submit({"a", 1, [] { ADD_FAILURE(); }, [] { ADD_FAILURE(); }});
    pool.submit({"a", 1, [] { ADD_FAILURE(); }, [&] { dropped.add("at the end"); }});
    for (const auto& ticket : tickets) ticket->abandon();
    EXPECT_EQ(pool.num_stuck(), 2);
    EXPECT_EQ(pool.submit({"a", 1, [] {}}), nullptr) << "no thread is left";
    never->abandon();
  }  // does not wait for them
  EXPECT_EQ(dropped.entries(), Entries{"at the end"});
  gate->open();
  gate->wait_for(0);
}

}  // namespace
}  // namespace yard::testing
