#include "serving/engine/breaker.h"

#include <fmt/format.h>

#include <algorithm>

namespace yard {
namespace {

double seconds_between(Breaker::Time from, Breaker::Time to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

std::string breaker_state_name(Breaker::State state) {
  return state == Breaker::State::kClosed ? "closed"
         : state == Breaker::State::kOpen ? "open"
                                          : "half-open";
}

bool Breaker::admits(Time now) {
  const std::lock_guard lock(mutex_);
  if (closed_) return true;
  if (seconds_between(opened_at_, now) < open_s_) return false;
  ++since_trial_;
  const bool tries =
      since_trial_ >= options_.trial_every || seconds_between(last_trial_, now) >= options_.trial_s;
  if (!tries) return false;
  since_trial_ = 0;
  last_trial_ = now;
  return true;
}

void Breaker::add(bool failed, Time now) {
  if (options_.failed_share >= 1) return;
  const std::lock_guard lock(mutex_);
  if (!closed_) {
    // Decisions that began before it opened still end.
    if (seconds_between(opened_at_, now) < open_s_) return;
    if (failed) {
      open_s_ = std::max(open_s_, std::min(2 * open_s_, options_.max_open_s));
      return open(now);
    }
    if (++succeeded_ < options_.trials) return;
    closed_ = true;
    last_.clear();
    return;
  }
  last_.push_back({now, failed});
  while (last_.size() > static_cast<size_t>(options_.window) ||
         seconds_between(last_.front().at, now) > options_.window_s) {
    last_.pop_front();
  }
  const auto failures = std::ranges::count_if(last_, &Decision::failed);
  if (std::ssize(last_) < options_.at_least) return;
  if (static_cast<double>(failures) <= options_.failed_share * static_cast<double>(last_.size())) {
    return;
  }
  failures_ = static_cast<int>(failures);
  counted_ = static_cast<int>(last_.size());
  open_s_ = options_.open_s;
  open(now);
}

// Requires: the lock.
void Breaker::open(Time now) {
  closed_ = false;
  opened_at_ = now;
  last_trial_ = Time();
  since_trial_ = succeeded_ = 0;
  ++times_opened_;
  last_.clear();
}

void Breaker::reset() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  last_.clear();
}

Breaker::State Breaker::state(Time now) const {
  const std::lock_guard lock(mutex_);
  if (closed_) return State::kClosed;
  return seconds_between(opened_at_, now) < open_s_ ? State::kOpen : State::kHalfOpen;
}

uint64_t Breaker::times_opened() const {
  const std::lock_guard lock(mutex_);
  return times_opened_;
}

std::string Breaker::detail(Time now) const {
  const std::lock_guard lock(mutex_);
  if (closed_) return "";
  const double left_s = open_s_ - seconds_between(opened_at_, now);
  const std::string why = fmt::format("the policy failed {} of {} decisions", failures_, counted_);
  return left_s > 0 ? fmt::format("{}; it is tried again in {:.0f} s", why, left_s)
                    : why + "; it is on trial";
}

}  // namespace yard
