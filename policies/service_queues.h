// The queues of Tiresias (Gu et al., NSDI 2019, section 3.2). A job moves to the END of the next
// queue when its attained service, time x GPUs, reaches the limit of its queue. Jobs in upper
// queues go first. Within a queue, running jobs go before waiting ones; preempted jobs wait at the
// front, others in order of entry. Dims: S slots.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "env/sim/view/plan.h"
#include "env/sim/view/view.h"
#include "policies/held_order.h"
#include "policies/memory.h"
#include "policies/ranked_queue.h"

namespace yard {

// Services of finished jobs in bins of 1/8 octave, and the Gittins index fitted to them.
class ServiceHistory {
 public:
  static size_t bytes() {
    return 2 * BumpAllocator::bytes<double>(kBins) + BumpAllocator::bytes<Sum>(kBins + 1) +
           BumpAllocator::bytes<FitCounts>(1);
  }
  // Requires: `bump` gives the same memory at every decision, filled with zeros before the first.
  explicit ServiceHistory(BumpAllocator& bump)
      : jobs_(bump.allocate<double>(kBins)),
        gpu_s_(bump.allocate<double>(kBins)),
        sums_(bump.allocate<Sum>(kBins + 1)),
        counts_(bump.allocate<FitCounts>(1)) {}

  void add(double gpu_s);
  // Refits the index if the number of finished jobs grew by an eighth since the last fit. Returns
  // whether the index changed.
  bool refit();
  // Returns P(S - a <= d | S > a) / E[min(S - a, d) | S > a] by the last fit, with a attained and d
  // in the quantum: the chance to end within the next d GPU-seconds, over their expected use; 0 if
  // no finished job had more than a.
  double gittins_index(double attained_gpu_s, double quantum_gpu_s) const;

 private:
  static constexpr int32_t kBins = 8 * 40;
  struct Sum {
    double mean, jobs_from, gpu_s_from;  // mean service of a bin; number and services of the jobs
                                         // in this and later bins
  };
  struct FitCounts {
    int64_t finished, fitted, sums;
  };
  double* jobs_;   // (bins)
  double* gpu_s_;  // (bins)  sum of the services of the jobs in the bin
  Sum* sums_;  // (bins + 1)  of the last fit: one for each bin with jobs, rising, then an end mark
  FitCounts* counts_;  // (1)
};

struct ServiceQueueRule {
  std::array<double, 2> limits_us = {3250e6, 7200e6};  // GPU-us of service at which a queue ends
  double gpu_exponent = 1;  // exponent of GPUs: service is time x GPUs to this power
  double cost_weight = 0;   // this multiple of the preemption cost does not count as service
  double promote_knob = 0;  // promotes a job that waited this multiple of its run time; 0: never
  bool gittins = false;     // orders the jobs of a queue by Gittins index first
};

// Two options: a job that waited long for its run time returns to the first queue (promotion), and
// a Gittins index orders the jobs of a queue. An event costs O(log jobs) for each job that changes.
// With an index, each running job of the first two queues changes, since its service grows.
class ServiceQueues {
 public:
  static size_t bytes(const View& view, const ServiceQueueRule& rule);

  // Requires: `bump` gives the same memory at every decision, filled with zeros before the first;
  // `view` and `rule` outlive this.
  ServiceQueues(const View& view, const ServiceQueueRule& rule, BumpAllocator& bump);

  // Fills zeroed columns from a snapshot, in which every job counts as changed. Running jobs keep
  // the order in which they started or last changed queue. Preempted jobs wait in front, the last
  // preempted first; others wait in order of arrival. Each job's wait since its last promotion
  // restarts at 0.
  void rebuild();

  // Processes the events since the last decision. Afterwards moved_holders() lists the holders
  // whose position changed without an event. Returns whether a job that already waited changed
  // position.
  bool begin();
  std::span<const int32_t> moved_holders() const { return moved_; }

  // Lower goes first. Requires: the job waits or holds GPUs, and begin() has processed it.
  Key key(int32_t slot) const { return {queue_[slot] + gittins_rank(slot), rank_[slot]}; }

  // Returns the key that a job preempted in this decision has if it waits again at once.
  Key key_after_preemption(int32_t slot);

  // Gives positions to the jobs that a decision started or preempted. moved_holders() lists the
  // holders whose position changed. Returns whether key_after_preemption() returned a key that is
  // now wrong.
  bool update_after_plan(const Plan& plan);

  // Returns when the next holder changes queue or the next waiting job is promoted, or kNever.
  int64_t next_us() const;

 private:
  // Ranks: running jobs by start, then waiting jobs. Jobs added at their front get falling ranks.
  static constexpr int32_t kFirstRunning = INT32_MIN + 1, kFirstWaiting = -(1 << 30);
  // The phase of a slot's job as the columns last recorded it.
  enum JobState : int32_t { kUnknown, kWaits, kHolds };

  struct Counts {
    int32_t running, front, tail, unused;
  };

  bool has_running_rank(int32_t slot) const { return rank_[slot] < kFirstWaiting; }
  double weight(int32_t slot) const;
  int64_t excluded_preemption_cost_us(int32_t slot) const;
  // Returns the service that the job attained since its last promotion.
  int64_t service_since_promotion_us(int32_t slot) const {
    return view_.attained_us(slot) - (base_us_ == nullptr ? 0 : base_us_[slot]);
  }
  int32_t queue_of(int32_t slot, int64_t excluded_preemption_cost_us) const;
  int64_t demotion_at_us(int32_t slot) const;
  void set_queue(int32_t slot, int32_t queue) {
    queue_[slot] = queue;
    update_service(slot);
  }
  void update_service(int32_t slot) {
    gpu_s_[slot] = static_cast<double>(service_since_promotion_us(slot)) * 1e-6 * weight(slot);
  }
  double gittins_rank(int32_t slot)
      const;  // rank of the job, 0 to 0.5: lower for a higher Gittins index, 0 without an index
  void schedule_demotion(int32_t slot);
  void drop(int32_t slot);
  void enter_queues_at_end(std::vector<int32_t>& slots);
  void run(int32_t slot);
  void start(int32_t slot);
  void requeue_front(std::vector<int32_t>& slots);
  void start_waiting(int32_t slot);
  void demote_due_jobs(std::vector<int32_t>& entering);
  void promote_due_jobs(std::vector<int32_t>& entering);

  const View& view_;
  const ServiceQueueRule& rule_;
  int32_t* state_;  // (S)
  int32_t* queue_;  // (S)
  int32_t* rank_;   // (S)
  double* gpu_s_;   // (S)  service that determines the index; of holders: at this decision
  Counts* counts_;  // (1)
  LinearKeyTreap demotions_;                  // holders; the next to change queue is last in order
  std::optional<LinearKeyTreap> promotions_;  // waiting jobs, of which the next to be promoted is
                                              // last in order; none without promotion
  std::optional<ServiceHistory> history_;     // history of services; none without a Gittins index
  int64_t* base_us_ = nullptr;                // (S)  service attained at the job's last promotion
  int64_t* waited_us_ =
      nullptr;  // (S)  wait from the last promotion to wait_from_us_, of jobs that have run
  int64_t* wait_from_us_ = nullptr;  // (S)
  std::vector<int32_t> moved_;
  std::vector<int32_t> just_demoted_;  // holders that change queue at this moment
  std::vector<RankedJob> stopped_;     // what key_after_preemption() returned
};

}  // namespace yard
