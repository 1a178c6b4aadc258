// srtf and tiresias of Lucid's simulator. Every tick (tiresias: every whole minute):
//
//  1. a running job with nothing left ends, others have a second less left: a job runs one second
//     longer than it needs;
//  2. jobs arrive, at the end of the waiting list;
//  3. all jobs are sorted, and GPUs are given out by number; jobs that do not fit are skipped.
//     `srtf` sorts by time left, ties in the order of the waiting list, then of the running list.
//     `tiresias` puts jobs with little service first, each group by submission, ties in the order
//     of the running list, then of the waiting list;
//  4. running jobs that get nothing are preempted: they have more left, and wait at the list's end;
//  5. waiting jobs that got GPUs are placed, in order. If fragmentation prevents it, a job goes on
//     waiting, and the GPUs counted for it stay unused.
//
// Only ticks are played at which a job arrives or ends, or (tiresias) a running job exceeds the
// limit of service. At others, steps 3 to 5 change nothing, for running jobs only move ahead of
// waiting ones. A running job that got GPUs behind a waiting job also fits before it, and leaves it
// as many. Failed placements fail again, as the same GPUs are free or fewer.

#include <algorithm>
#include <tuple>

#include "env/sim/rulesets/lucid.h"
#include "env/sim/rulesets/service_list.h"

namespace yard {
namespace {

constexpr int32_t kLargeGpus = 8;  // larger jobs cost more to preempt

class Preemptive {
 public:
  Preemptive(SlotSim& stage, LucidOrder order, const LucidConfig& config, const GangPlacer* placer,
             int32_t total_gpus)
      : sim_(stage),
        s_(stage.state()),
        by_remaining_(order == LucidOrder::kRemaining),
        config_(config),
        placer_(placer),
        total_gpus_(total_gpus) {}

  void run() {
    while (!sim_.done()) {
      now_s_ = std::min({end_s_, sim_.arrival_s(), round_s_});
      if (now_s_ == kNever) sim_.stuck();
      sim_.begin_event(now_s_);
      advance_jobs();
      while (sim_.arrival_s() <= now_s_) add(sim_.arrive());
      const bool decides = by_remaining_ || now_s_ % config_.round_s == 0;
      if (decides) decide();
      find_next_events(!decides);
      sim_.end_event();
    }
  }

 private:
  // The smaller goes first. `turn`: when the job entered its list.
  struct Key {
    int64_t left_s;    // srtf
    int64_t submit_s;  // tiresias
    int32_t level;     // tiresias
    int32_t list;
    int64_t turn;
    auto tie() const { return std::tie(level, left_s, submit_s, list, turn); }
    bool operator>(const Key& other) const { return tie() > other.tie(); }
  };

  struct Entry {
    Key key;
    int64_t submit_s;
    int64_t left_s;      // of a waiting job
    int64_t end_s;       // of a running job
    int64_t since_s;     // when it started
    int64_t base_gpu_s;  // service until then
    int64_t turn;
    int32_t slot;
    int32_t gpus;
    bool runs;

    int64_t service_gpu_s(int64_t now_s) const {
      return base_gpu_s + (runs ? gpus * (now_s - since_s) : 0);
    }
  };

  Key key_of(const Entry& entry) const {
    if (by_remaining_) {
      const int64_t left_s = entry.runs ? entry.end_s - 1 - now_s_ : entry.left_s;
      return {.left_s = left_s, .submit_s = 0, .level = 0, .list = entry.runs, .turn = entry.turn};
    }
    const bool below = entry.service_gpu_s(now_s_) > config_.limit_gpu_s;
    return {.left_s = 0,
            .submit_s = entry.submit_s,
            .level = below,
            .list = !entry.runs,
            .turn = entry.turn};
  }

  // Step 1.
  void advance_jobs() {
    list_.update([&](Entry& entry) {
      if (entry.runs && entry.end_s == now_s_) {
        sim_.finish(entry.slot);
        return false;
      }
      entry.key = key_of(entry);
      return true;
    });
  }

  void add(int32_t slot) {
    Entry entry{.key = {},
                .submit_s = s_.submit_us[slot] / SlotSim::kUsPerS,
                .left_s = sim_.run_s(slot),
                .end_s = 0,
                .since_s = 0,
                .base_gpu_s = 0,
                .turn = ++turn_,
                .slot = slot,
                .gpus = s_.gpus[slot],
                .runs = false};
    entry.key = key_of(entry);
    list_.add(entry);
  }

  // Steps 3 to 5.
  void decide() {
    chosen_.clear();
    const auto gets = [&](Entry& entry) {
      if (!entry.runs) chosen_.push_back(&entry);
    };
    list_.give_out(total_gpus_, s_.head->held, gets, [&](Entry& entry) { preempt(entry); });
    for (Entry* entry : chosen_) {
      if (!sim_.try_start(entry->slot, placer_)) continue;
      entry->end_s = now_s_ + entry->left_s + 1;
      entry->since_s = now_s_;
      entry->turn = ++turn_;
      entry->runs = true;
    }
  }

  void preempt(Entry& entry) {
    const int64_t cost_s = entry.gpus > kLargeGpus ? config_.preempt_large_s : config_.preempt_s;
    entry.left_s = entry.end_s - 1 - now_s_ + cost_s;
    entry.base_gpu_s = entry.service_gpu_s(now_s_);
    entry.turn = ++turn_;
    entry.runs = false;
    sim_.preempt(entry.slot);
  }

  // Finds the next ticks to play. `undecided`: the next round has to handle the present events.
  void find_next_events(bool undecided) {
    end_s_ = kNever;
    int64_t due_s = undecided ? now_s_ : kNever;
    for (const Entry& entry : list_) {
      if (!entry.runs) continue;
      end_s_ = std::min(end_s_, entry.end_s);
      if (!by_remaining_) due_s = std::min(due_s, beyond_limit_s(entry));
    }
    if (by_remaining_) return;
    round_s_ = due_s == kNever ? kNever
                               : (due_s + config_.round_s - 1) / config_.round_s * config_.round_s;
  }

  // The tick at which a running job exceeds the limit; kNever if it has exceeded it already.
  int64_t beyond_limit_s(const Entry& entry) const {
    const int64_t more_gpu_s = config_.limit_gpu_s - entry.base_gpu_s;
    if (more_gpu_s < 0) return kNever;
    const int64_t at_s = entry.since_s + more_gpu_s / entry.gpus + 1;
    return at_s > now_s_ ? at_s : kNever;
  }

  SlotSim& sim_;
  const SimState& s_;
  const bool by_remaining_;
  const LucidConfig config_;
  const GangPlacer* placer_;
  const int32_t total_gpus_;
  ServiceList<Entry> list_;
  std::vector<Entry*> chosen_;
  int64_t now_s_ = 0;
  int64_t end_s_ = kNever;    // the next end
  int64_t round_s_ = kNever;  // the next round that may change something
  int64_t turn_ = 0;
};

}  // namespace

Outcome replay_preemptive(SlotSim& stage, LucidOrder order, const LucidConfig& config,
                          const GangPlacer* placer) {
  Preemptive(stage, order, config, placer, stage.state().head->free_gpus).run();
  return stage.take_outcome();
}

}  // namespace yard
