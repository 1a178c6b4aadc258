#include "env/sim/rulesets/fifo_engine.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace yard {
namespace {

class FifoEngine {
 public:
  FifoEngine(RuleSetSimBySlot& sim, const FifoRules& rules, const Replay& replay)
      : sim_(sim),
        s_(sim.state()),
        jobs_(replay.fixed.jobs),
        rules_(rules),
        agenda_block_(EventQueue::bytes(replay.end_job - replay.first_job)),
        ends_(EventQueue::at(agenda_block_.data(), replay.end_job - replay.first_job)) {
    ends_.clear(replay.end_job - replay.first_job);
  }

  void run() {
    while (!sim_.done()) {
      const int64_t now_s = std::min(ends_.next_us(), next_tick(sim_.next_arrival_s()));
      if (now_s == kNever) sim_.throw_stuck();
      sim_.begin_event(now_s);
      while (ends_.next_us() == now_s) {
        const int32_t slot = ends_.top();
        ends_.remove(slot);
        sim_.finish(slot);
      }
      while (sim_.next_arrival_s() <= now_s) arrive();
      rules_.skips ? start_what_fits() : start_head();
      sim_.end_event();
    }
  }

 private:
  using Shortest = std::tuple<int64_t, int32_t, int32_t>;  // run time, then arrival; slot

  // The first tick at or after a time, without a division if rules tick every second.
  int64_t next_tick(int64_t time_s) const {
    if (rules_.tick_s == 1 || time_s == kNever) return time_s;
    return (time_s + rules_.tick_s - 1) / rules_.tick_s * rules_.tick_s;
  }

  void arrive() {
    const int32_t slot = sim_.arrive();
    if (rules_.shortest_first) sorted_.emplace(sim_.trace_run_s(slot), s_.job[slot], slot);
  }

  bool start(int32_t slot) {
    if (!sim_.try_start(slot, rules_.placer)) return false;
    const int64_t min_s = rules_.min_ticks * rules_.tick_s;
    const int64_t run_s = std::max(min_s, next_tick(sim_.trace_run_s(slot)));
    ends_.put(slot, s_.job[slot], sim_.now_s() + run_s);
    return true;
  }

  void start_head() {
    if (rules_.shortest_first) {
      while (!sorted_.empty() && start(std::get<2>(sorted_.top()))) sorted_.pop();
    } else {
      while (s_.head->queue_head != kNone && start(s_.head->queue_head)) continue;
    }
  }

  // In order of arrival. While GPUs only get fewer, a class that found no place finds none.
  void start_what_fits() {
    blocked_.assign(static_cast<size_t>(jobs_.num_classes), 0);
    while (s_.head->free_gpus > 0) {
      int32_t next = kNone;
      for (int32_t k = 0; k < jobs_.num_classes; ++k) {
        if (jobs_.class_gpus[k] > s_.head->free_gpus) break;
        const int32_t head = s_.class_head[k];
        if (head == kNone || blocked_[static_cast<size_t>(k)]) continue;
        if (next == kNone || s_.queue_rank[head] < s_.queue_rank[next]) next = head;
      }
      if (next == kNone) return;
      if (!start(next)) blocked_[static_cast<size_t>(s_.request_class[next])] = 1;
    }
  }

  RuleSetSimBySlot& sim_;
  const SimState& s_;
  const JobColumns& jobs_;
  FifoRules rules_;
  std::vector<char> blocked_;                                                    // (K)
  std::priority_queue<Shortest, std::vector<Shortest>, std::greater<>> sorted_;  // of waiting jobs
  std::vector<std::byte> agenda_block_;
  EventQueue ends_;  // in seconds
};

}  // namespace

Outcome replay_fifo(RuleSetSimBySlot& sim, const FifoRules& rules, const Replay& replay) {
  YARD_CHECK(!rules.skips || !rules.shortest_first, "a queue that skips jobs cannot be sorted");
  FifoEngine(sim, rules, replay).run();
  return sim.outcome_at_end();
}

}  // namespace yard
