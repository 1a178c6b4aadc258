// A thread pool for policies. A stuck policy blocks its thread, never the server: work is refused
// if the queue is full or all threads hang, and the destructor does not wait for stuck work.
#pragma once

#include <functional>
#include <memory>

namespace yard {

class Workers {
 public:
  // A handle on submitted work.
  class Ticket {
   public:
    virtual ~Ticket() = default;
    // Abandons the work: it counts as stuck until it ends. Work which has not begun is dropped.
    virtual void abandon() = 0;
  };

  Workers(int threads, int max_waiting);
  ~Workers();  // waits for work which was not abandoned
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Returns null if the work is refused. Abandoned work may outlive this object and must own all it
  // uses.
  std::shared_ptr<Ticket> submit(std::function<void()> work);

  int stuck() const;

 private:
  struct Shared;
  struct Work;
  static void run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace yard
