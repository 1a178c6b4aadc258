// Threads on which policies decide. A policy that hangs keeps its thread, never the server: work is
// refused where too much waits or every thread hangs, and nobody waits for those at the end.
#pragma once

#include <functional>
#include <memory>

namespace yard {

class Workers {
 public:
  // A piece of work in the hands of whoever wants it done.
  class Ticket {
   public:
    virtual ~Ticket() = default;
    // Nobody waits for it any more: it counts as hanging until it is over. Where it has not begun,
    // it never will.
    virtual void give_up() = 0;
  };

  Workers(int threads, int most_waiting);
  ~Workers();  // waits for work that was not given up
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Returns null where the work is refused. Work that was given up may outlive this: it owns what
  // it touches.
  std::shared_ptr<Ticket> submit(std::function<void()> work);

  int hanging() const;

 private:
  struct Shared;
  struct Work;
  static void run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace yard
