// The queues of Tiresias (Gu et al., NSDI 2019, section 3.2): a job sinks to the END of the next
// queue when its attained service, time x GPUs, passes the limit of its own. The upper queue goes
// first. In a queue the jobs that run go before those that wait; a preempted job waits at the
// front, and the rest wait in the order in which they entered the queue. Options: a job that waited
// long for what it has run goes back to the first queue (promotion); within a queue a Gittins index
// goes before all of this. A job's place in order changes only when it enters a queue, starts, is
// preempted, or the index is fitted anew, so that an event costs O(log jobs) for each job which it
// concerns; with an index, also for each that runs in the first two queues, since its service
// grows. As columns of a policy's memory. Dims: S slots.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "env/sim/plan.h"
#include "env/sim/view.h"
#include "policies/held_order.h"
#include "policies/memory.h"
#include "policies/ranked.h"

namespace yard {

// Services of finished jobs, by eighths of an octave, and the Gittins index that follows from them.
class ServiceHistory {
 public:
  static size_t bytes() {
    return 2 * Carver::bytes<double>(kBins) + Carver::bytes<Sum>(kBins + 1) +
           Carver::bytes<Counts>(1);
  }
  // Requires: the same place in the memory every time.
  explicit ServiceHistory(Carver& carver)
      : jobs_(carver.take<double>(kBins)),
        gpu_s_(carver.take<double>(kBins)),
        sums_(carver.take<Sum>(kBins + 1)),
        counts_(carver.take<Counts>(1)) {}

  void add(double gpu_s);
  // Fits the index to all jobs that finished, where these are an eighth more than at the last fit.
  // Returns whether it did. In between the index stands still, so that an order by it stays valid.
  bool refit();
  // P(S - a <= d | S > a) / E[min(S - a, d) | S > a], by the last fit: the chance to end within the
  // next `d` GPU seconds, over what these take on the average. 0 where no finished job had more
  // than `a`.
  double gittins(double a_gpu_s, double d_gpu_s) const;

 private:
  static constexpr int32_t kBins = 8 * 40;
  struct Sum {
    double mean, jobs_from, gpu_s_from;  // of a bin; of it and those after it
  };
  struct Counts {
    int64_t finished, fitted, sums;
  };
  double* jobs_;    // (bins)
  double* gpu_s_;   // (bins)  sum of their services
  Sum* sums_;       // (bins + 1)  of the last fit: bins with jobs, rising; one beyond the last
  Counts* counts_;  // (1)
};

struct ServiceQueueRule {
  std::array<double, 2> limits_us = {3250e6, 7200e6};  // attained GPU time that ends a queue
  double gpu_exponent = 1;                             // service is time x GPUs to this power
  double cost_weight = 0;   // how many times its preemption cost a holder's service leaves out
  double promote_knob = 0;  // promotes what waited so many times as long as it ran; 0: never
  bool gittins = false;     // jobs of one queue go by their Gittins index first
};

class ServiceQueues {
 public:
  static size_t bytes(const View& view, const ServiceQueueRule& rule);

  // Requires: the same place in the memory every time; `view` and `rule` outlive this.
  ServiceQueues(const View& view, const ServiceQueueRule& rule, Carver& carver);

  // Fills columns that are zero from a snapshot, in which every job counts as changed: jobs that
  // run stand in the order in which they began to, or sank; those that were preempted wait in
  // front, the last first; the others in the order in which they came. What a snapshot lacks is
  // left out: how long a job waited since its last promotion, and which of several jobs that were
  // preempted in one moment ran first.
  void rebuild();

  // Takes in what happened since the last decision. moved() then lists the holders whose place in
  // order changed, in addition to those among the changed. Returns whether a job that waited
  // before changed its place, too.
  bool begin();
  std::span<const int32_t> moved() const { return moved_; }

  // Lower goes first. Requires: the job waits or holds GPUs, and has been taken in.
  Key key(int32_t slot) const { return {queue_[slot] + index(slot), rank_[slot]}; }

  // Where a job that this decision preempted would wait, were it to wait at once.
  Key stopped_key(int32_t slot);

  // Takes in a decision: what it started runs, what it preempted goes to its place among those that
  // wait. moved() lists the holders whose place in order changed. Returns whether the place of a
  // job that waits again at once is not the one that stopped_key() gave for it.
  bool settle(const Plan& plan);

  // When the next holder sinks or the next waiting job is promoted; kNever where none will.
  int64_t next_us() const;

 private:
  // Ranks: those that run, by when they began, then those that wait, the front growing downwards.
  static constexpr int32_t kFirstRunning = INT32_MIN + 1, kFirstWaiting = -(1 << 30);
  // What the columns say of a slot.
  enum JobState : int32_t { kUnknown, kWaits, kHolds };

  struct Counts {
    int32_t running, front, tail, unused;
  };

  bool runs_by_rank(int32_t slot) const { return rank_[slot] < kFirstWaiting; }
  double weight(int32_t slot) const;
  int64_t discount_us(int32_t slot) const;
  int64_t served_us(int32_t slot) const;  // attained since it was last promoted
  int32_t queue_of(int32_t slot, int64_t discount_us) const;
  int64_t sinks_us(int32_t slot) const;
  void set_queue(int32_t slot, int32_t queue);
  void set_service(int32_t slot);
  double index(int32_t slot) const;  // 0 to 1, the higher Gittins index first; 0 without one
  void watch_sinking(int32_t slot);
  void forget(int32_t slot);
  void enter_at_end(std::vector<int32_t>& slots);
  void run(int32_t slot);
  void start(int32_t slot);
  void wait_in_front(std::vector<int32_t>& slots);
  void wait_from_now(int32_t slot);
  void sink_until_now(std::vector<int32_t>& entering);
  bool promote(std::vector<int32_t>& entering);

  const View& view_;
  const ServiceQueueRule& rule_;
  int32_t* state_;     // (S)
  int32_t* queue_;     // (S)
  int32_t* rank_;      // (S)
  double* gpu_s_;      // (S)  service that the index is for: of holders at this decision
  Counts* counts_;     // (1)
  HeldOrder sinking_;  // holders, the next to sink is the last in this order
  std::optional<HeldOrder> promoting_;     // waiting jobs likewise; none without promotion
  std::optional<ServiceHistory> history_;  // none without an index
  int64_t* base_us_ = nullptr;             // (S)  attained when it was last promoted
  int64_t* waited_us_ = nullptr;           // (S)  since then, having run, up to wait_from_us_
  int64_t* wait_from_us_ = nullptr;        // (S)
  std::vector<int32_t> moved_;
  std::vector<int32_t> joined_;  // holders that sank in this very moment
  std::vector<Claim> stopped_;   // what stopped_key() gave
};

}  // namespace yard
