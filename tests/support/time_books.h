// Where all GPU time went, kept by counting what every state holds: in thousandths of GPUs times
// microseconds, so that shares and sums are whole numbers.
//
//   TimeBooks books(scene.fixed());
//   while (player.step()) books.look(player.state());
//   EXPECT_EQ(books.spent().all(), 1000 * gpus * time);
#pragma once

#include <cstdint>
#include <vector>

#include "env/sim/state/columns.h"
#include "env/sim/state/state.h"

namespace yard::testing {

struct SpentMilliUs {
  int64_t running = 0;
  int64_t starting = 0;  // held, and waiting for others to leave or restoring
  int64_t beside = 0;    // what nobody has of GPUs that are shared
  int64_t saving = 0;    // whole GPUs that stopped jobs still leave, and nobody has yet
  int64_t free = 0;
  int64_t down = 0;
  int64_t all() const { return running + starting + beside + saving + free + down; }
};

class TimeBooks {
 public:
  // What `fixed` points to outlives this.
  explicit TimeBooks(const SimModel& fixed) : fixed_(fixed) {}

  // Call after every step.
  void look(const SimState& s);

  const SpentMilliUs& spent() const { return spent_; }

  // Of a job that has ended.
  struct Ended {
    int64_t attained_us = 0;
    double done_us = 0;
    int32_t failed = 0;
  };
  const Ended& ended(int32_t job) const { return ended_[static_cast<size_t>(job)]; }

 private:
  void pass(int64_t to_us);
  void count(const SimState& s);

  SimModel fixed_;
  SpentMilliUs spent_;
  std::vector<Ended> ended_;  // (N)
  // as the last state left it
  int64_t now_us_ = -1;
  SpentMilliUs held_;                // thousandths, not yet times anything; saving: in `free`
  std::vector<int64_t> left_at_us_;  // free GPUs that somebody still leaves
};

}  // namespace yard::testing
