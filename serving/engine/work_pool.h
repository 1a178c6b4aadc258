// A thread pool that clients share fairly, and that outlives work which hangs.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>

namespace yard {

struct WorkItem {
  std::string client;          // whose work it is
  size_t cost = 1;             // in which shares are counted, such as bytes
  std::function<void()> work;  // must not throw
  // Called instead of `work` if the item gives way to those of other clients, or the pool ends.
  std::function<void()> drop = {};
};

// While work waits, each client gets the same share of the pool's time: an item that costs little
// passes those of clients that have had much (start-time fair queueing, Goyal, Vin and Cheng,
// 1996). Work that hangs blocks its thread only. If the queue is full, the client with the most
// waiting work gives way; if all threads hang, work is refused. The destructor does not wait for
// work that was abandoned.
class WorkPool {
 public:
  struct Options {
    int threads = 4;
    int small_threads = 0;  // further ones, for items of at most `small_cost` only
    size_t small_cost = size_t{64} << 10;
    int max_waiting = 64;
    size_t max_waiting_cost = std::numeric_limits<size_t>::max();
  };

  // A handle on submitted work.
  class Ticket {
   public:
    virtual ~Ticket() = default;
    // Work which has begun counts as stuck until it ends; other work is forgotten, without a call.
    virtual void abandon() = 0;
  };

  explicit WorkPool(const Options& options);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;

  // Returns null, without a call, if the work is refused. Abandoned work may outlive this object
  // and must own all it uses.
  std::shared_ptr<Ticket> submit(WorkItem item);

  int stuck() const;
  int waiting() const;

 private:
  struct Shared;
  struct Work;
  static void run(const std::shared_ptr<Shared>& shared, bool small_only);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace yard
