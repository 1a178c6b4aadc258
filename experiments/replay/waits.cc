#include "experiments/replay/waits.h"

#include <algorithm>

#include "env/base/text/csv.h"
#include "env/base/text/text.h"
#include "env/base/text/wall_clock.h"

namespace yard {

namespace {

// Returns "2026-03-01T12:00:05", possibly with a fraction; empty without a known calendar.
std::string calendar_text(const Scenario& scenario, int64_t at_us) {
  constexpr int64_t kUsPerS = 1'000'000;
  if (!scenario.trace.epoch_unix_s || scenario.factor != 1) return "";
  const int64_t fraction_us = (at_us % kUsPerS + kUsPerS) % kUsPerS;
  std::string text = date_text(*scenario.trace.epoch_unix_s + (at_us - fraction_us) / kUsPerS);
  if (fraction_us > 0) text += format_seconds(fraction_us).substr(1);
  return text;
}

std::string behind_text(const Scenario& scenario, const Blockers& behind) {
  std::string text;
  for (const int32_t job : behind.jobs) {
    if (!text.empty()) text += ';';
    text += scenario.trace.jobs[static_cast<size_t>(scenario.original_job_of(job))].id;
  }
  if (behind.more > 0) text += ";+" + std::to_string(behind.more);
  return text;
}

}  // namespace

std::string wait_row(const Scenario& scenario, const std::string& policy, const Wait& wait) {
  const Job& job = scenario.trace.jobs[static_cast<size_t>(scenario.original_job_of(wait.job))];
  std::string row;
  append_csv_cell(policy, row);
  row += ',';
  append_csv_cell(job.id, row);
  row += "," + format_seconds(wait.from_us) + "," + format_seconds(wait.to_us) + "," +
         kWaitReasonNames[static_cast<size_t>(wait.reason)] + ",";
  append_csv_cell(wait.detail, row);
  row += ',';
  append_csv_cell(behind_text(scenario, wait.behind), row);
  row += "," + calendar_text(scenario, wait.from_us) + "," + calendar_text(scenario, wait.to_us);
  return row + "\n";
}

Waits::Waits(const Scenario& scenario, PlacementRule placement,
             std::function<void(const Wait&)> ended)
    : scenario_(scenario),
      placement_(placement),
      ended_(std::move(ended)),
      seen_reasons_(scenario.trace.jobs.size(), 0) {}

void Waits::close(OpenWait& open, int64_t now_us) {
  const int32_t job = open.job;
  open.job = kNone;
  if (now_us == open.since_us) return;  // no time has passed
  add({job, open.since_us, now_us, open.reason, std::move(open.detail), std::move(open.behind)});
}

void Waits::add_started_jobs_to_blockers(const SimState& s) {
  std::vector<const OpenWait*> started;
  for (const int32_t slot : waiting_) {
    const OpenWait& open = open_[static_cast<size_t>(slot)];
    const bool runs = s.phase[slot] == Phase::kStarting || s.phase[slot] == Phase::kRunning;
    if (runs && s.job[slot] == open.job) started.push_back(&open);
  }
  if (started.empty()) return;
  std::ranges::sort(started, {}, &OpenWait::job);
  for (const int32_t slot : waiting_) {
    OpenWait& open = open_[static_cast<size_t>(slot)];
    const bool starts = std::ranges::find(started, &open) != started.end();
    const bool lacks_gpus = open.reason == WaitReason::kTooFewGpus && !starts;
    if (open.reason != WaitReason::kOrder && !lacks_gpus) continue;
    for (const OpenWait* other : started) {
      // Of jobs that start together, one waits behind those which could not start before, or an
      // earlier one.
      if (other == &open) continue;
      if (starts && other->reason == WaitReason::kOrder && other->job > open.job) continue;
      if (open.behind.jobs.size() < kMaxBlockers) {
        open.behind.jobs.push_back(other->job);
      } else {
        ++open.behind.more;
      }
    }
  }
}

void Waits::add(const Wait& wait) {
  WaitTotal& total = totals_[static_cast<size_t>(wait.reason)];
  const auto bit = static_cast<uint16_t>(1U << static_cast<unsigned>(wait.reason));
  uint16_t& had = seen_reasons_[static_cast<size_t>(scenario_.original_job_of(wait.job))];
  total.jobs += (had & bit) == 0;
  had |= bit;
  ++total.intervals;
  total.time_us += wait.to_us - wait.from_us;
  if (ended_) ended_(wait);
}

void Waits::add_unadmitted_wait(int32_t job, int64_t to_us) {
  const Job& what = scenario_.simulated_trace().jobs[static_cast<size_t>(job)];
  if (!what.scored || follows_stage_of_same_job(what) || what.submit_us >= to_us) return;
  add({job, what.submit_us, to_us, WaitReason::kNextRound, ""});
}

void Waits::note_waiting(const SimState& s, int32_t slot) {
  if (!scenario_.simulated_trace().jobs[static_cast<size_t>(s.job[slot])].scored) return;
  const auto at = static_cast<size_t>(slot);
  if (at >= open_.size()) open_.resize(static_cast<size_t>(s.head->high_water));
  OpenWait& open = open_[at];
  const WaitReason reason = why_->reason(s, slot);
  open.seen = step_;
  if (open.job == s.job[slot] && open.reason == reason) return;
  const bool listed = open.job != kNone;
  if (listed) close(open, s.head->now_us);
  open.job = s.job[slot];
  open.reason = reason;
  open.since_us = s.head->now_us;
  if (ended_) {
    open.behind = why_->blockers(s, slot, reason);
    open.detail = why_->detail(s, slot, reason, [&](int32_t job) {
      return scenario_.trace.jobs[static_cast<size_t>(scenario_.original_job_of(job))].id;
    });
  }
  if (!listed) waiting_.push_back(slot);
}

void Waits::record_state(const SimModel& fixed, const SimState& s) {
  if (!why_) why_.emplace(fixed, placement_);
  if (ended_) add_started_jobs_to_blockers(s);
  why_->invalidate();
  ++step_;
  if (next_ == kNone) next_ = s.head->first_job;
  end_job_ = s.head->end_job;
  for (; next_ < s.head->arrived; ++next_) add_unadmitted_wait(next_, s.head->now_us);
  for (int32_t slot = s.head->queue_head; slot != kNone; slot = s.queue_next[slot])
    note_waiting(s, slot);
  for (int32_t slot = s.head->blocked_head; slot != kNone; slot = s.queue_next[slot]) {
    // A stage after another of its own job does not wait: the job runs, or waits in that stage.
    if (!follows_stage_of_same_job(
            scenario_.simulated_trace().jobs[static_cast<size_t>(s.job[slot])]))
      note_waiting(s, slot);
  }
  const int32_t stopping = s.head->live - s.head->blocked - s.head->waiting - s.head->held;
  for (int32_t slot = 0; stopping > 0 && slot < s.head->high_water; ++slot) {
    if (s.phase[slot] == Phase::kStopping) note_waiting(s, slot);
  }
  std::erase_if(waiting_, [&](int32_t slot) {
    OpenWait& open = open_[static_cast<size_t>(slot)];
    if (open.seen == step_) return false;
    close(open, s.head->now_us);
    return true;
  });
}

void Waits::end(int64_t end_us) {
  for (const int32_t slot : waiting_) close(open_[static_cast<size_t>(slot)], end_us);
  waiting_.clear();
  for (int32_t job = next_; job < end_job_; ++job) add_unadmitted_wait(job, end_us);
}

}  // namespace yard
