// A thread pool that clients share fairly, and that goes on working while some work hangs.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>

namespace yard {

struct WorkItem {
  std::string client;          // name of the client that submits the work
  size_t cost = 1;             // measure of the client's share, such as bytes
  std::function<void()> work;  // must not throw
  // Called instead of `work` if the item makes room for another client's work, or the pool ends.
  std::function<void()> drop = {};
};

// Clients with waiting work get equal shares of the pool (start-time fair queueing, Goyal, Vin and
// Cheng, 1996). Cheap work thus overtakes the work of clients that have used much of the pool. Work
// that hangs blocks only its own thread. If the queue is full, the client with the most waiting
// work loses its latest item. If all threads hang, the pool refuses new work. The destructor does
// not wait for abandoned work.
class WorkPool {
 public:
  struct Options {
    int threads = 4;
    int small_threads = 0;  // additional threads, only for items of at most `small_cost`
    size_t small_cost = size_t{64} << 10;
    int max_waiting = 64;
    size_t max_waiting_cost = std::numeric_limits<size_t>::max();
  };

  // A handle on submitted work.
  class Ticket {
   public:
    virtual ~Ticket() = default;
    // Removes waiting work from the queue. Work that runs counts as stuck until it ends.
    virtual void abandon() = 0;
    // Charges the client `cost` in addition to the cost of the item. Only the running work itself
    // may call charge_client().
    virtual void charge_client(size_t cost) = 0;
  };

  explicit WorkPool(const Options& options);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;

  // Returns null, and calls nothing, if the pool refuses the work. Abandoned work may outlive the
  // pool and must own all that it uses.
  std::shared_ptr<Ticket> submit(WorkItem item);
  // Hands the item to an idle thread that takes work of any cost, unless other work waits.
  // Otherwise returns null, and calls nothing.
  std::shared_ptr<Ticket> submit_if_idle(WorkItem item);

  int num_stuck() const;
  int waiting() const;

 private:
  struct Shared;
  struct Work;
  static void run(const std::shared_ptr<Shared>& shared, bool small_only);
  static void drop(Work& work);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace yard
