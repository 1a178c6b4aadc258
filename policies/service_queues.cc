#include "policies/service_queues.h"

#include <algorithm>
#include <cmath>

namespace yard {

// --- the distribution

void ServiceHistory::add(double gpu_s) {
  const double octaves = std::log2(std::max(gpu_s, 1.0));
  const auto bin = std::min(static_cast<int32_t>(8 * octaves), kBins - 1);
  ++counts_->finished;
  jobs_[bin] += 1;
  gpu_s_[bin] += std::max(gpu_s, 1.0);
}

bool ServiceHistory::refit() {
  const int64_t more = counts_->finished - counts_->fitted;
  if (more == 0 || 8 * more < counts_->fitted) return false;
  counts_->fitted = counts_->finished;
  counts_->sums = kBins - std::count(jobs_, jobs_ + kBins, 0);
  Sum* sum = sums_ + counts_->sums;
  *sum = {INFINITY, 0, 0};
  for (int32_t bin = kBins - 1; bin >= 0; --bin) {
    if (jobs_[bin] == 0) continue;
    const Sum after = *sum;
    *--sum = {gpu_s_[bin] / jobs_[bin], after.jobs_from + jobs_[bin],
              after.gpu_s_from + gpu_s_[bin]};
  }
  return true;
}

double ServiceHistory::gittins_index(double attained_gpu_s, double quantum_gpu_s) const {
  const auto above = [&](double gpu_s) {
    return *std::upper_bound(sums_, sums_ + counts_->sums, gpu_s,
                             [](double at, const Sum& sum) { return at < sum.mean; });
  };
  const Sum left = above(attained_gpu_s), beyond = above(attained_gpu_s + quantum_gpu_s);
  if (left.jobs_from == 0) return 0;
  const double ended = left.jobs_from - beyond.jobs_from;
  const double spent = left.gpu_s_from - beyond.gpu_s_from - ended * attained_gpu_s;
  return ended / (spent + beyond.jobs_from * quantum_gpu_s);
}

// --- the queues

size_t ServiceQueues::bytes(const View& view, const ServiceQueueRule& rule) {
  const int32_t slots = view.num_slots();
  size_t sum = 3 * BumpAllocator::bytes<int32_t>(slots) + BumpAllocator::bytes<double>(slots) +
               BumpAllocator::bytes<Counts>(1) + LinearKeyTreap::bytes(slots);
  if (rule.promote_knob > 0)
    sum += LinearKeyTreap::bytes(slots) + 3 * BumpAllocator::bytes<int64_t>(slots);
  if (rule.gittins) sum += ServiceHistory::bytes();
  return sum;
}

ServiceQueues::ServiceQueues(const View& view, const ServiceQueueRule& rule, BumpAllocator& bump)
    : view_(view),
      rule_(rule),
      state_(bump.allocate<int32_t>(view.num_slots())),
      queue_(bump.allocate<int32_t>(view.num_slots())),
      rank_(bump.allocate<int32_t>(view.num_slots())),
      gpu_s_(bump.allocate<double>(view.num_slots())),
      counts_(bump.allocate<Counts>(1)),
      demotions_(view.num_slots(), bump) {
  if (rule.promote_knob > 0) {
    promotions_.emplace(view.num_slots(), bump);
    base_us_ = bump.allocate<int64_t>(view.num_slots());
    waited_us_ = bump.allocate<int64_t>(view.num_slots());
    wait_from_us_ = bump.allocate<int64_t>(view.num_slots());
  }
  if (rule.gittins) history_.emplace(bump);
}

double ServiceQueues::weight(int32_t slot) const {
  const int32_t gpus = view_.gpus_at_least_one(slot);
  return rule_.gpu_exponent == 1 ? gpus : std::pow(gpus, rule_.gpu_exponent);
}

int64_t ServiceQueues::excluded_preemption_cost_us(int32_t slot) const {
  const auto cost_us = static_cast<double>(save_and_restore_us(view_, slot));
  return static_cast<int64_t>(rule_.cost_weight * cost_us);
}

int32_t ServiceQueues::queue_of(int32_t slot, int64_t excluded_preemption_cost_us) const {
  const double service_us =
      static_cast<double>(service_since_promotion_us(slot) - excluded_preemption_cost_us) *
      weight(slot);
  return (service_us >= rule_.limits_us[0]) + (service_us >= rule_.limits_us[1]);
}

// Returns when a holder reaches the limit of its queue. Requires: one of the first two queues.
int64_t ServiceQueues::demotion_at_us(int32_t slot) const {
  const int64_t discount = excluded_preemption_cost_us(slot);
  const double limit_us = rule_.limits_us[static_cast<size_t>(queue_[slot])] / weight(slot);
  auto left_us =
      static_cast<int64_t>(std::ceil(limit_us)) + discount - service_since_promotion_us(slot);
  // The quotient was rounded, so the limit may still be slightly ahead.
  if (left_us <= 0 && queue_of(slot, discount) <= queue_[slot]) left_us = 1;
  const bool starts = view_.phase(slot) == Phase::kStarting;
  return (starts ? view_.transition_end_us(slot) : view_.now_us()) + left_us;
}

double ServiceQueues::gittins_rank(int32_t slot) const {
  const int32_t queue = queue_[slot];
  if (!history_ || queue == 2) return 0;  // the last queue has no index
  const double first_us = queue == 0 ? 0 : rule_.limits_us[0];
  const double quantum_s = (rule_.limits_us[static_cast<size_t>(queue)] - first_us) * 1e-6;
  return 0.5 / (1 + 1e6 * history_->gittins_index(gpu_s_[slot], quantum_s));
}

void ServiceQueues::schedule_demotion(int32_t slot) {
  demotions_.remove(slot);
  if (!view_.holds_gpus(slot) || queue_[slot] == 2) return;
  // Of holders that change queue at one time, the first submitted is handled first.
  demotions_.put(slot, {-static_cast<double>(demotion_at_us(slot)), 0}, -view_.serial(slot));
}

void ServiceQueues::drop(int32_t slot) {
  if (history_ && view_.ended_after_running(slot)) {
    history_->add(static_cast<double>(view_.attained_us(slot)) * 1e-6 * weight(slot));
  }
  demotions_.remove(slot);
  state_[slot] = kUnknown;
  if (!promotions_) return;
  promotions_->remove(slot);
  base_us_[slot] = waited_us_[slot] = wait_from_us_[slot] = 0;
}

// Appends jobs that enter a queue at one moment, in order of submission.
void ServiceQueues::enter_queues_at_end(std::vector<int32_t>& slots) {
  std::ranges::sort(slots, {}, [&](int32_t slot) { return view_.serial(slot); });
  for (const int32_t slot : slots) rank_[slot] = ++counts_->tail;
}

// Makes the job hold GPUs, after those of its queue that already do.
void ServiceQueues::run(int32_t slot) {
  if (state_[slot] == kWaits && promotions_) {
    if (service_since_promotion_us(slot) > 0)
      waited_us_[slot] += view_.now_us() - wait_from_us_[slot];
    promotions_->remove(slot);
  }
  state_[slot] = kHolds;
  rank_[slot] = kFirstRunning + ++counts_->running;
}

void ServiceQueues::start(int32_t slot) {
  const int32_t queue = queue_of(slot, excluded_preemption_cost_us(slot));
  if (state_[slot] == kUnknown || queue != queue_[slot]) set_queue(slot, queue);
  run(slot);
  schedule_demotion(slot);
}

// Puts preempted jobs at the front of their queue in the order in which they ran there. A job with
// the service of a lower queue goes to the end of that one.
void ServiceQueues::requeue_front(std::vector<int32_t>& slots) {
  std::sort(slots.begin(), slots.end(), [&](int32_t a, int32_t b) { return key(b) < key(a); });
  for (const int32_t slot : slots) {
    const int32_t queue = queue_of(slot, 0);
    if (queue > queue_[slot]) {
      rank_[slot] = ++counts_->tail;
    } else if (has_running_rank(slot)) {
      rank_[slot] = --counts_->front;
    }
    set_queue(slot, queue);
    start_waiting(slot);
  }
}

void ServiceQueues::start_waiting(int32_t slot) {
  state_[slot] = kWaits;
  demotions_.remove(slot);
  if (!promotions_) return;
  wait_from_us_[slot] = view_.now_us();
  promotions_->remove(slot);
  if (queue_[slot] == 0) return;
  const double may_wait_us =
      rule_.promote_knob * static_cast<double>(service_since_promotion_us(slot));
  const double more_us = std::max(may_wait_us - static_cast<double>(waited_us_[slot]), 0.0);
  const double at_us = std::ceil(static_cast<double>(view_.now_us()) + more_us);
  if (at_us < 4e18) promotions_->put(slot, {-at_us, 0}, -view_.serial(slot));
}

// Moves holders that passed a limit. Those that passed it earlier, while no job waited, go behind
// the running jobs of the next queue. Those that pass it at this moment go to its end.
void ServiceQueues::demote_due_jobs(std::vector<int32_t>& entering) {
  const auto now = -static_cast<double>(view_.now_us());
  for (int32_t slot = demotions_.last(0); slot != kNone; slot = demotions_.last(0)) {
    const double at = demotions_.key(slot, 0).value;
    if (at < now) return;
    if (!view_.holds_gpus(slot)) {  // its node failed
      demotions_.remove(slot);
      continue;
    }
    const int32_t queue = queue_of(slot, excluded_preemption_cost_us(slot));
    if (queue > queue_[slot]) {
      set_queue(slot, at > now ? queue_[slot] + 1 : queue);
      moved_.push_back(slot);
      if (at > now) {
        run(slot);
      } else {
        entering.push_back(slot);
        just_demoted_.push_back(slot);
      }
    }
    schedule_demotion(slot);
  }
}

void ServiceQueues::promote_due_jobs(std::vector<int32_t>& entering) {
  const auto now = -static_cast<double>(view_.now_us());
  for (int32_t slot = promotions_->last(0); slot != kNone; slot = promotions_->last(0)) {
    if (promotions_->key(slot, 0).value < now) return;
    promotions_->remove(slot);
    base_us_[slot] = view_.attained_us(slot);
    waited_us_[slot] = 0;
    set_queue(slot, 0);
    entering.push_back(slot);
  }
}

void ServiceQueues::rebuild() {
  struct Entry {
    int64_t at_us;
    bool demoted;
    int32_t serial, slot;
    auto operator<=>(const Entry&) const = default;
  };
  std::vector<Entry> holders, in_front, at_end;
  // Service time beyond the upper limit of the previous queue.
  const auto over_us = [&](int32_t slot, int32_t queue, int64_t excluded_preemption_cost_us) {
    const double limit_us = rule_.limits_us[static_cast<size_t>(queue - 1)] / weight(slot);
    return service_since_promotion_us(slot) - excluded_preemption_cost_us -
           static_cast<int64_t>(std::ceil(limit_us));
  };
  for (int32_t i = 0; i < view_.num_changed(); ++i) {
    const int32_t slot = view_.changed_slot(i), serial = view_.serial(slot);
    if (view_.holds_gpus(slot)) {
      const int64_t discount = excluded_preemption_cost_us(slot);
      int32_t queue = queue_of(slot, discount);
      if (queue > 0 && over_us(slot, queue, discount) <= 0)
        --queue;  // it changes queue at this very moment
      const bool restored = view_.times_started(slot) > 1;
      const int64_t at_us = view_.transition_end_us(slot) -
                            (restored ? view_.preemption_costs().restore(view_.gpus(slot)) : 0);
      int64_t demoted_us = -1;
      if (queue > 0) demoted_us = view_.now_us() - over_us(slot, queue, discount);
      set_queue(slot, queue);
      holders.push_back({std::max(at_us, demoted_us), demoted_us > at_us, serial, slot});
    } else if (view_.phase(slot) == Phase::kWaiting || view_.phase(slot) == Phase::kStopping) {
      const int32_t queue = queue_of(slot, 0);
      const bool demoted = queue > 0 && over_us(slot, queue, 0) <= 0;
      set_queue(slot, queue);
      if (view_.times_started(slot) > 0 && !demoted) {
        in_front.push_back({view_.phase_or_rate_since_us(slot), false, -serial, slot});
      } else {
        at_end.push_back({view_.phase_or_rate_since_us(slot), false, serial, slot});
      }
    }
  }
  for (auto* entries : {&holders, &in_front, &at_end}) std::ranges::sort(*entries);
  for (const Entry& entry : holders) run(entry.slot);
  for (const Entry& entry : in_front) rank_[entry.slot] = --counts_->front;
  for (const Entry& entry : at_end) rank_[entry.slot] = ++counts_->tail;
  for (const auto* entries : {&in_front, &at_end}) {
    for (const Entry& entry : *entries) start_waiting(entry.slot);
  }
}

bool ServiceQueues::begin() {
  moved_.clear();
  just_demoted_.clear();
  stopped_.clear();
  std::vector<int32_t> entering, failed, begun, promoted;
  for (int32_t i = 0; i < view_.num_changed(); ++i) {
    const int32_t slot = view_.changed_slot(i);
    if (view_.finished(slot)) {
      drop(slot);
    } else if (view_.holds_gpus(slot)) {
      if (state_[slot] != kHolds) begun.push_back(slot);  // from a snapshot
      if (state_[slot] == kHolds) schedule_demotion(slot);
    } else if (view_.phase(slot) == Phase::kWaiting) {
      if (state_[slot] == kHolds) failed.push_back(slot);  // its node failed
      if (state_[slot] == kUnknown) entering.push_back(slot);
    }
  }
  const bool refitted = history_ && history_->refit();
  for (const int32_t slot : entering) {
    set_queue(slot, queue_of(slot, 0));
    start_waiting(slot);
  }
  std::ranges::sort(begun, {}, [&](int32_t slot) { return view_.serial(slot); });
  for (const int32_t slot : begun) start(slot);
  requeue_front(failed);
  demote_due_jobs(entering);
  enter_queues_at_end(entering);
  if (promotions_) promote_due_jobs(promoted);
  enter_queues_at_end(promoted);  // after jobs that arrived at this moment
  for (int32_t i = 0; history_ && i < view_.num_holders(); ++i) {
    const int32_t slot = view_.holder_slot(i);
    if (queue_[slot] == 2) continue;  // the last queue has no index
    update_service(slot);
    moved_.push_back(slot);
  }
  return refitted || !promoted.empty();
}

Key ServiceQueues::key_after_preemption(int32_t slot) {
  Key key = this->key(slot);
  if (has_running_rank(slot))
    key.serial = counts_->front - 1 - static_cast<int32_t>(stopped_.size());
  stopped_.push_back({key, slot});
  return key;
}

bool ServiceQueues::update_after_plan(const Plan& plan) {
  moved_.clear();
  std::vector<int32_t> begun = just_demoted_, stopped;
  for (const Edit& edit : plan.edits) {
    const int32_t slot = edit.job.slot;
    if (edit.verb == Verb::kEnd) continue;
    if (edit.verb == Verb::kPreempt) {
      if (!view_.holds_gpus(slot)) stopped.push_back(slot);
    } else if (std::find(just_demoted_.begin(), just_demoted_.end(), slot) == just_demoted_.end()) {
      begun.push_back(slot);
    }
  }
  std::erase_if(begun, [&](int32_t slot) { return !view_.holds_gpus(slot); });
  std::sort(begun.begin(), begun.end(), [&](int32_t a, int32_t b) { return key(a) < key(b); });
  requeue_front(stopped);
  const bool as_given = std::all_of(stopped_.begin(), stopped_.end(), [&](const RankedJob& given) {
    const Key now = key(given.slot);
    return view_.holds_gpus(given.slot) || (!(now < given.key) && !(given.key < now));
  });
  for (const int32_t slot : begun) start(slot);
  moved_ = std::move(begun);
  return !as_given;
}

int64_t ServiceQueues::next_us() const {
  const int32_t demoted = demotions_.last(0);
  const int64_t next =
      demoted == kNone ? kNever : static_cast<int64_t>(-demotions_.key(demoted, 0).value);
  if (!promotions_) return next;
  // A job that is already due, since it waited long enough before it last ran, is promoted with the
  // next event, as in the original.
  LinearKeyTreap::Walk walk(*promotions_, 0);
  for (RankedJob due = walk.next(); due.slot != kNone; due = walk.next()) {
    const auto at_us = static_cast<int64_t>(-due.key.value);
    if (at_us > view_.now_us()) return std::min(next, at_us);
  }
  return next;
}

}  // namespace yard
