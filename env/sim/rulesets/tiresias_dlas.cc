// Discretised least attained service in Tiresias' simulator: three queues, each first come, first
// served. A running job is demoted when its attained service reaches the queue's limit, one queue
// per event, to the END of the next. GPUs are counted from the top queue down, and jobs that do not
// fit are skipped; then waiting jobs queue behind running ones. Under dlas-gpu-N, a job that waited
// N times as long as it ran returns to the top.
//
// Kept from the original, since results depend on it:
//  - the time of a jump (the next possible demotion) divides limit minus SECONDS attained by the
//    job's GPUs, rounded down; a large job is often demoted late, at any event;
//  - if an end and an arrival fall on one time and a jump comes before, the arrival remembers the
//    jobs that were to end with it. It ends them, running or not, unless others end at its time.
// A jump at the present time without a demotion is left out; the original would loop for ever.

#include <algorithm>
#include <array>
#include <span>

#include "env/sim/rulesets/tiresias.h"

namespace yard {
namespace {

constexpr int32_t kQueues = 3;
constexpr int64_t kLimits[kQueues - 1] = {3250, 7200};

class Dlas {
 public:
  Dlas(RuleSetSimBySlot& sim, const DlasMode& mode, const SimModel& fixed)
      : sim_(sim),
        s_(sim.state()),
        mode_(mode),
        total_gpus_(fixed.spec.total_gpus),
        jobs_(fixed.jobs) {
    const auto classes = static_cast<size_t>(fixed.jobs.num_classes);
    for (Queue& q : queues_) q.waiting_by_class.assign(classes, 0);
  }

  void run() {
    while (!sim_.done()) {
      const int64_t arrival_s = sim_.next_arrival_s();
      if (arrival_s == kNever && end_s_ == kNever) sim_.throw_stuck();
      const bool jump = jump_s_ < std::min(arrival_s, end_s_);
      if (jump && arrival_s == end_s_) remember_ends();
      now_s_ = jump ? jump_s_ : std::min(arrival_s, end_s_);
      sim_.begin_event(now_s_);
      bool changed = !jump;
      if (!jump && end_s_ == now_s_) end_jobs();
      if (!jump && arrival_s == now_s_) {
        if (end_s_ != now_s_) end_remembered();
        remembered_.clear();
        while (sim_.next_arrival_s() == now_s_) add(sim_.arrive());
      }
      if (demote_s_ <= now_s_) changed = demote() || changed;
      if (mode_.starvation > 0) changed = promote() || changed;
      // If nothing changed, all jobs keep what they have: running jobs go before waiting ones.
      if (changed) allocate();
      find_next_arrival();
      sim_.end_event();
    }
  }

 private:
  // These times do not change while the job runs.
  struct Running {
    int64_t end_s = 0;
    int64_t base_s = 0;    // now - base_s: attained since it was last in the top queue
    int64_t demote_s = 0;  // when its service reaches its queue's limit
    int32_t slot = kNone;
    int32_t gpus = 0;
  };

  struct Waiting {
    int32_t slot;
    int32_t gpus;
  };

  // Data outside the queues, by slot.
  struct Job {
    int64_t attained_s = 0;  // until it last stopped
    int64_t left_s = 0;      // likewise
    int64_t waited_s = 0;    // after it had attained service, until wait_from_s
    int64_t wait_from_s = 0;
    int64_t promote_s = kNever;  // when its wait will be too long, if it goes on
    int32_t request_class = 0;
    int32_t queue = 0;
    bool runs = false;
  };

  // A queue has running jobs, waiting jobs, and those that joined it in this event.
  struct Queue {
    std::vector<Running> running;
    std::vector<Waiting> waiting;
    std::vector<Running> joined;  // of waiting ones, only slot and GPUs count
    int32_t running_gpus = 0;
    std::vector<int32_t> waiting_by_class;  // (K)
  };

  Job& job(int32_t slot) { return by_slot_[static_cast<size_t>(slot)]; }
  Queue& queue_of(int32_t slot) { return queues_[static_cast<size_t>(job(slot).queue)]; }

  void add(int32_t slot) {
    const auto at = static_cast<size_t>(slot);
    if (by_slot_.size() <= at) by_slot_.resize(at + 1);
    by_slot_[at] = {.left_s = sim_.trace_run_s(slot),
                    .wait_from_s = now_s_,
                    .request_class = s_.request_class[slot]};
    queues_[0].joined.push_back({.slot = slot, .gpus = s_.gpus[slot]});
  }

  int64_t demotion_time(const Running& r, int32_t queue) const {
    if (queue + 1 == kQueues) return kNever;
    const int64_t limit = kLimits[queue];
    return r.base_s + (mode_.gpu_time ? (limit + r.gpus - 1) / r.gpus : limit);
  }

  // --- ends

  void end_jobs() {
    for (Queue& q : queues_) {
      std::erase_if(q.running, [&](const Running& r) {
        if (r.end_s != now_s_) return false;
        q.running_gpus -= r.gpus;
        sim_.finish(r.slot);
        return true;
      });
    }
  }

  void remember_ends() {
    remembered_.clear();
    for (const Queue& q : queues_) {
      for (const Running& r : q.running) {
        if (r.end_s == end_s_) remembered_.push_back(r.slot);
      }
    }
  }

  // None of them can have ended yet: each had work until now at least.
  void end_remembered() {
    for (const int32_t slot : remembered_) {
      Queue& q = queue_of(slot);
      if (job(slot).runs) {
        q.running_gpus -= s_.gpus[slot];
        std::erase_if(q.running, [slot](const Running& r) { return r.slot == slot; });
      } else {
        --q.waiting_by_class[static_cast<size_t>(job(slot).request_class)];
        std::erase_if(q.waiting, [slot](const Waiting& w) { return w.slot == slot; });
      }
      sim_.finish(slot);
    }
  }

  // --- moves between queues. Jobs join one in order of arrival.

  void sort_joined(std::span<Running> joined) {
    std::ranges::sort(joined, {}, [this](const Running& r) { return s_.job[r.slot]; });
  }

  bool demote() {
    bool any = false;
    for (int32_t k = 0; k + 1 < kQueues; ++k) {
      Queue& q = queues_[static_cast<size_t>(k)];
      std::vector<Running>& below = queues_[static_cast<size_t>(k) + 1].joined;
      std::erase_if(q.running, [&](const Running& r) {
        if (r.demote_s > now_s_) return false;
        q.running_gpus -= r.gpus;
        below.push_back(r);
        below.back().demote_s = demotion_time(r, k + 1);
        job(r.slot).queue = k + 1;
        return true;
      });
      sort_joined(below);
      any = any || !below.empty();
    }
    return any;
  }

  bool promote() {
    std::vector<Running>& top = queues_[0].joined;
    const size_t before = top.size();
    for (size_t k = 1; k < kQueues; ++k) {
      Queue& q = queues_[k];
      std::erase_if(q.waiting, [&](const Waiting& w) {
        Job& j = job(w.slot);
        if (j.promote_s > now_s_) return false;
        --q.waiting_by_class[static_cast<size_t>(j.request_class)];
        j.attained_s = j.waited_s = 0;
        j.promote_s = kNever;
        j.queue = 0;
        top.push_back({.slot = w.slot, .gpus = w.gpus});
        return true;
      });
    }
    sort_joined(std::span(top).subspan(before));
    return top.size() > before;
  }

  // --- allocation

  void allocate() {
    free_ = total_gpus_;
    starts_.clear();
    for (Queue& q : queues_) {
      stopped_.clear();
      keep(q);
      begin(q);
      settle_joined(q);
      q.waiting.insert(q.waiting.begin(), stopped_.begin(), stopped_.end());
    }
    for (const int32_t slot : starts_) sim_.start_anywhere(slot);
  }

  void keep(Queue& q) {
    if (q.running_gpus <= free_) {
      free_ -= q.running_gpus;
      return;
    }
    std::erase_if(q.running, [&](const Running& r) {
      if (r.gpus <= free_) {
        free_ -= r.gpus;
        return false;
      }
      q.running_gpus -= r.gpus;
      stop(r);
      wait(q, stopped_, r);
      return true;
    });
  }

  void begin(Queue& q) {
    size_t n = 0, i = 0;
    for (; i < q.waiting.size() && any_fits(q); ++i) {
      const Waiting w = q.waiting[i];
      if (w.gpus > free_) {
        q.waiting[n++] = w;
        continue;
      }
      --q.waiting_by_class[static_cast<size_t>(job(w.slot).request_class)];
      run(q, w.slot, w.gpus);
    }
    q.waiting.erase(q.waiting.begin() + static_cast<std::ptrdiff_t>(n),
                    q.waiting.begin() + static_cast<std::ptrdiff_t>(i));
  }

  void settle_joined(Queue& q) {
    for (const Running& r : q.joined) {
      const bool ran = job(r.slot).runs;
      if (r.gpus > free_) {
        if (ran) stop(r);
        wait(q, q.waiting, r);
      } else if (ran) {
        free_ -= r.gpus;
        q.running_gpus += r.gpus;
        q.running.push_back(r);
      } else {
        run(q, r.slot, r.gpus);
      }
    }
    q.joined.clear();
  }

  bool any_fits(const Queue& q) const {
    for (size_t k = 0; k < q.waiting_by_class.size() && jobs_.class_gpus[k] <= free_; ++k) {
      if (q.waiting_by_class[k] > 0) return true;
    }
    return false;
  }

  void wait(Queue& q, std::vector<Waiting>& list, const Running& r) {
    list.push_back({r.slot, r.gpus});
    ++q.waiting_by_class[static_cast<size_t>(job(r.slot).request_class)];
  }

  void run(Queue& q, int32_t slot, int32_t gpus) {
    Job& j = job(slot);
    if (j.attained_s > 0) j.waited_s += now_s_ - j.wait_from_s;
    j.runs = true;
    Running r{now_s_ + j.left_s, now_s_ - j.attained_s, 0, slot, gpus};
    r.demote_s = demotion_time(r, j.queue);
    q.running.push_back(r);
    q.running_gpus += gpus;
    free_ -= gpus;
    starts_.push_back(slot);
  }

  void stop(const Running& r) {
    Job& j = job(r.slot);
    j.attained_s = now_s_ - r.base_s;
    j.left_s = r.end_s - now_s_;
    j.wait_from_s = now_s_;
    j.runs = false;
    if (mode_.starvation > 0) {
      const double max_s = static_cast<double>(j.attained_s) * mode_.starvation;
      const auto more_s = static_cast<int64_t>(max_s - static_cast<double>(j.waited_s));
      j.promote_s = now_s_ + std::max<int64_t>(more_s, 0);
    }
    sim_.preempt(r.slot);
  }

  // --- next events

  void find_next_arrival() {
    end_s_ = jump_s_ = demote_s_ = kNever;
    for (size_t k = 0; k < kQueues; ++k) {
      for (const Running& r : queues_[k].running) {
        end_s_ = std::min(end_s_, r.end_s);
        if (k + 1 == kQueues) continue;
        demote_s_ = std::min(demote_s_, r.demote_s);
        jump_s_ = std::min(jump_s_, jumps_at(r, kLimits[k]));
      }
      if (mode_.starvation == 0) continue;
      for (const Waiting& w : queues_[k].waiting) {
        const int64_t promote_s = job(w.slot).promote_s;
        if (promote_s > now_s_) jump_s_ = std::min(jump_s_, promote_s);
      }
    }
  }

  int64_t jumps_at(const Running& r, int64_t limit) const {
    const int64_t left_s = limit - (now_s_ - r.base_s);
    const int64_t wait_s = mode_.gpu_time ? left_s / r.gpus : left_s;
    if (wait_s > 0) return now_s_ + wait_s;
    return r.demote_s <= now_s_ ? now_s_ : kNever;
  }

  RuleSetSimBySlot& sim_;
  const SimState& s_;
  const DlasMode mode_;
  const int32_t total_gpus_;
  const JobColumns& jobs_;
  std::vector<Job> by_slot_;
  std::array<Queue, kQueues> queues_;
  std::vector<int32_t> remembered_;  // jobs that were to end with the next arrival
  std::vector<int32_t> starts_;
  std::vector<Waiting> stopped_;
  int32_t free_ = 0;
  int64_t now_s_ = 0;
  int64_t end_s_ = kNever, jump_s_ = kNever, demote_s_ = kNever;
};

}  // namespace

Outcome replay_dlas(RuleSetSimBySlot& sim, const DlasMode& mode, const SimModel& fixed) {
  Dlas(sim, mode, fixed).run();
  return sim.outcome_at_end();
}

}  // namespace yard
