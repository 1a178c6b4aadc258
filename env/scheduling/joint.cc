#include "env/scheduling/joint.h"

#include <algorithm>
#include <cmath>

#include "env/base/core/log2.h"

namespace yard {

JointScheduler::Columns JointScheduler::columns(const View& view, std::byte* memory) {
  BumpAllocator bump(memory);
  const int32_t slots = view.num_slots();
  Columns at{};
  at.now = bump.allocate<RoundState>(1);
  at.since_us = bump.allocate<int64_t>(slots);
  at.job_stats = bump.allocate<JobStats>(slots);
  at.type_rate_log2 = bump.allocate<double>(view.spec().num_types);
  at.line = bump.allocate<QueueEntry>(slots);
  return at;
}

size_t JointScheduler::bytes(const View& view) {
  const int32_t slots = view.num_slots();
  return BumpAllocator::bytes<RoundState>(1) + BumpAllocator::bytes<int64_t>(slots) +
         BumpAllocator::bytes<JobStats>(slots) +
         BumpAllocator::bytes<double>(view.spec().num_types) +
         BumpAllocator::bytes<QueueEntry>(slots);
}

void JointScheduler::on_events(const View& view, std::byte* memory) {
  const Columns at = columns(view, memory);
  for (int32_t i = 0; i < view.num_changed(); ++i) {
    const int32_t slot = view.changed_slot(i);
    at.since_us[slot] =
        view.phase(slot) == Phase::kRunning ? view.phase_or_rate_since_us(slot) : view.now_us();
  }
}

JointScheduler::JointScheduler(const JointConfig& config, const View& view, std::byte* memory)
    : config_(config),
      view_(view),
      at_(columns(view, memory)),
      round_(*at_.now),
      throughput_model_(view),
      option_lister_(view, throughput_model_,
                     {[this](int32_t a, int32_t b) { return preemptible_for(a, b); },
                      [this](int32_t a, int32_t b) { return held_rank(a) > held_rank(b); },
                      [this](int32_t a) { return movable(a); }}) {}

void JointScheduler::begin_round(const std::function<double(int32_t)>& seconds) {
  round_ = {.queue = std::min(
                1.0, static_cast<double>(view_.gpus_requested_by_waiting()) / view_.total_gpus())};
  std::vector<int32_t> live;
  const auto add_job = [&](int32_t slot) {
    const double best = std::max(throughput_model_.best_throughput(slot), kMinRate);
    at_.job_stats[slot] = {best, std::max(seconds(slot), 1.0) / best, 0, 0, 0, false};
    live.push_back(slot);
  };
  for (int32_t s = view_.queue_head(); s != kNone; s = view_.queue_next(s)) add_job(s);
  for (const int32_t slot : view_.holder_slots()) add_job(slot);
  compute_job_stats(live);
  for (const int32_t slot : view_.holder_slots()) {
    JobStats& of = at_.job_stats[slot];
    of.held = true;
    const double margin = config_.margin_log2 + config_.margin_by_size * size(slot) +
                          config_.margin_by_queue * round_.queue;
    of.held_key = key(slot, of.left_s - config_.cost_weight * stop_and_resume_cost_s(slot)) -
                  std::max(margin, 0.0);
  }
  for (int32_t s = view_.queue_head(); s != kNone; s = view_.queue_next(s)) {
    const auto [key, serial] = waiting_rank(s);
    at_.line[round_.of++] = {key, serial, s};
  }
  std::ranges::sort(at_.line, at_.line + round_.of, {}, &QueueEntry::rank);
}

int32_t JointScheduler::current_job(const View& view, const std::byte* memory) {
  return columns(view, const_cast<std::byte*>(memory)).now->current_job;
}

int32_t JointScheduler::next() {
  for (;;) {
    round_.current_job = kNone;
    while (round_.line < round_.of) {
      round_.current_job = at_.line[round_.line++].slot;
      list_options();
      if (!options_.empty()) return round_.current_job;
    }
    if (round_.running || !config_.move || !view_.may_move() || !round_.differs) {
      round_.current_job = kNone;
      return kNone;
    }
    list_running_jobs_to_visit();
  }
}

void JointScheduler::list_running_jobs_to_visit() {
  round_.running = true;
  round_.line = round_.of = 0;
  for (const int32_t slot : view_.holder_slots()) {
    const bool runs = view_.phase(slot) == Phase::kRunning && view_.preemptible(slot);
    if (job_stats(slot).held && runs) {
      at_.line[round_.of++] = {job_stats(slot).held_key, view_.serial(slot), slot};
    }
  }
  std::ranges::sort(at_.line, at_.line + round_.of, {}, &QueueEntry::rank);
}

// Queues jobs again that were preempted for the current job. They may find another placement in
// this round; then they have moved.
void JointScheduler::requeue_victims(const std::vector<int32_t>& stopped) {
  for (const int32_t slot : stopped) {
    const Rank rank = waiting_rank(slot);
    QueueEntry* const end = at_.line + round_.of++;
    QueueEntry* at =
        std::ranges::upper_bound(at_.line + round_.line, end, rank, {}, &QueueEntry::rank);
    std::move_backward(at, end, end + 1);
    *at = {rank.first, rank.second, slot};
  }
}

double JointScheduler::key(int32_t slot, double seconds) const {
  return log2_coarse(std::max(seconds, 1.0)) +
         config_.gpu_exponent * log2_coarse(view_.gpus_at_least_one(slot)) +
         config_.order_by_gain * job_stats(slot).gain +
         config_.order_by_size * size(slot) * round_.queue;
}

JointScheduler::Rank JointScheduler::waiting_rank(int32_t slot) const {
  const double waited_h =
      static_cast<double>(view_.now_us() - view_.phase_or_rate_since_us(slot)) / 3.6e9;
  const double by_wait = config_.order_by_wait * log2_coarse(1 + waited_h);
  return {key(slot, job_stats(slot).left_s) + by_wait, view_.serial(slot)};
}

// Seconds of GPU work that a preemption costs the job, for its save and its restore.
double JointScheduler::stop_and_resume_cost_s(int32_t slot) const {
  const PreemptionCosts& costs = view_.preemption_costs();
  return static_cast<double>(costs.save_us + costs.restore(view_.gpus(slot))) * 1e-6;
}

// Whether a running job may be moved.
bool JointScheduler::movable(int32_t slot) const {
  return view_.phase(slot) == Phase::kRunning && view_.preemptible(slot) && job_stats(slot).held &&
         static_cast<double>(view_.now_us() - at_.since_us[slot]) >= config_.settle_s * 1e6;
}

bool JointScheduler::preemptible_for(int32_t a, int32_t b) const {
  if (!view_.holds_gpus(a) || !view_.preemptible(a)) return false;
  if (round_.running || b != round_.current_job || !job_stats(a).held) return false;
  return current_rank_ < held_rank(a) && (view_.times_preempted(a) == 0 || movable(a));
}

double JointScheduler::size(int32_t slot) const {
  return log2_coarse(view_.gpus_at_least_one(slot)) / 3;
}

void JointScheduler::compute_job_stats(const std::vector<int32_t>& live) {
  // Mean rate on each type relative to the jobs' best, weighted by GPUs; as log2.
  const int32_t types = throughput_model_.num_types();
  std::fill_n(at_.type_rate_log2, types, 0.0);
  double all = 0;
  for (const int32_t slot : live) {
    const double weight = view_.gpus_at_least_one(slot);
    all += weight;
    for (int32_t t = 0; t < types; ++t) {
      const double rate = throughput_model_.consolidated_throughput(slot, t) / job_stats(slot).best;
      at_.type_rate_log2[t] += weight * std::max(rate, kMinRate);
    }
  }
  round_.differs = throughput_model_.depends_on_placement();
  for (int32_t t = 0; t < types; ++t) {
    at_.type_rate_log2[t] = all > 0 ? log2_coarse(at_.type_rate_log2[t] / all) : 0;
    round_.differs = round_.differs || at_.type_rate_log2[t] != at_.type_rate_log2[0];
  }
  double sum = 0, gains = 0;
  for (const int32_t slot : live) {
    JobStats& of = at_.job_stats[slot];
    double mean = 0;
    for (int32_t t = 0; t < types; ++t) {
      mean += throughput_model_.consolidated_throughput(slot, t) / types;
    }
    of.gain = log2_coarse(of.best / std::max(mean, kMinRate));
    of.length = log2_coarse(of.left_s);
    sum += of.length;
    gains += of.gain;
  }
  const auto n = static_cast<double>(std::max<size_t>(live.size(), 1));
  for (const int32_t slot : live) {
    JobStats& of = at_.job_stats[slot];
    of.length = (of.length - sum / n) / 3;
    of.gain -= gains / n;
  }
}

void JointScheduler::list_options() {
  const int32_t slot = round_.current_job;
  options_.clear();
  if (!round_.running) {
    const bool alike = !throughput_model_.has_speed_in_tables(slot);
    if (alike && unplaceable_.contains(view_.request_class(slot))) return;
    // Without the wait: otherwise a victim would gain by its wait and preempt in turn.
    current_rank_ = {key(slot, job_stats(slot).left_s), view_.serial(slot)};
    options_ = option_lister_.of(slot, {true, config_.preempt, config_.move});
    if (alike && options_.empty()) unplaceable_.insert(view_.request_class(slot));
    wait_score_ = min_score_to_start(slot);
    score_options();
    return;
  }
  // Another job's move may have stopped it, or it may have nothing to gain.
  if (view_.phase(slot) != Phase::kRunning) return;
  const double rate = std::max(throughput_model_.current_throughput(slot), kMinRate);
  const int32_t type = throughput_model_.node_type(view_.part_node(view_.first_part(slot)));
  wait_score_ = placement_score(slot, type, rate, 0) + config_.move_gain_log2;
  if (ideal_score(slot) <= wait_score_) return;
  if (!movable(slot)) {
    const auto settle_us = static_cast<int64_t>(config_.settle_s * 1e6);
    round_.movable_at_us = std::min(round_.movable_at_us, at_.since_us[slot] + settle_us);
    return;
  }
  const double left_s = job_stats(slot).left_s * job_stats(slot).best;
  for (PlacementOption& option : option_lister_.of(slot, {false, false, false})) {
    const double saves_s = left_s / rate - left_s / std::max(option.rate, kMinRate);
    const bool pays = saves_s >= config_.move_cost * stop_and_resume_cost_s(slot);
    if (pays && option_score(slot, option) > wait_score_) options_.push_back(std::move(option));
  }
  score_options();
}

bool JointScheduler::may_wait_or_stay() const {
  if (round_.running) return true;
  const bool typed =
      expert_action_ == kStay || options_[static_cast<size_t>(expert_action_)].type != kNone;
  return config_.hold && typed &&
         view_.num_live() > view_.num_waiting() + view_.num_blocked_by_dependencies();
}

// Computes the score of all options and suggests one.
void JointScheduler::score_options() {
  scores_.clear();
  expert_action_ = kStay;
  double most = 0;
  for (const PlacementOption& option : options_) {
    scores_.push_back(option_score(round_.current_job, option));
    if (expert_action_ != kStay && scores_.back() <= most) continue;
    expert_action_ = static_cast<int32_t>(scores_.size()) - 1;
    most = scores_.back();
  }
  if (expert_action_ == kStay || round_.running || most >= wait_score_) return;
  if (may_wait_or_stay() && waiting_could_improve(options_[static_cast<size_t>(expert_action_)])) {
    expert_action_ = kStay;
  } else {
    wait_score_ = most;
  }
}

// Whether waiting could bring a better placement or spare a victim. A job that gets what it would
// choose in an empty cluster has nothing to wait for.
bool JointScheduler::waiting_could_improve(const PlacementOption& o) const {
  constexpr double kAlike = 0.05;  // doublings
  if (!o.victims.empty() || !o.moves.empty()) return true;
  const double here = placement_score(round_.current_job, o.type, o.rate, o.interference_cost);
  return here < ideal_score(round_.current_job) - kAlike;
}

double JointScheduler::placement_score(int32_t slot, int32_t type, double rate,
                                       double interference_cost) const {
  double score = -config_.interference_cost * interference_cost / view_.gpus_at_least_one(slot);
  if (!config_.choose_type) return score;
  const JobStats& of = job_stats(slot);
  const double speed = 1 + config_.rate_by_length * of.length + config_.rate_by_size * size(slot) +
                       config_.rate_by_queue * round_.queue;
  score += speed * log2_coarse(std::max(rate, kMinRate) / of.best);
  const double price = config_.type_price + config_.price_by_length * of.length +
                       config_.price_by_size * size(slot) + config_.price_by_queue * round_.queue;
  if (type != kNone) score -= price * type_rate_log2(type);
  return score;
}

double JointScheduler::option_score(int32_t slot, const PlacementOption& o) const {
  const double gpus = view_.gpus_at_least_one(slot);
  double score = placement_score(slot, o.type, o.rate, o.interference_cost);
  score -= config_.fragmentation * o.left_over / view_.spec().max_node_gpus;
  if (o.kind == OptionKind::kPreempt) score -= config_.preemption_penalty * o.gpus_moved / gpus;
  if (o.kind == OptionKind::kMoveOthers) score -= config_.migration_penalty * o.gpus_moved / gpus;
  if (o.kind == OptionKind::kSpread) score -= config_.spread;
  return score;
}

// The score of the placement that the job would choose in an empty cluster.
double JointScheduler::ideal_score(int32_t slot) const {
  double most = -1e9;
  for (int32_t t = 0; t < throughput_model_.num_types(); ++t) {
    const double rate = throughput_model_.consolidated_throughput(slot, t);
    if (rate > 0) most = std::max(most, placement_score(slot, t, rate, 0));
  }
  return most;
}

// The score below which a waiting job keeps waiting.
double JointScheduler::min_score_to_start(int32_t slot) const {
  const double waited_s =
      static_cast<double>(view_.now_us() - view_.phase_or_rate_since_us(slot)) * 1e-6;
  return ideal_score(slot) + log2_coarse(config_.rate_floor) - waited_s / config_.patience_s +
         config_.hold_by_length * job_stats(slot).length + config_.hold_by_size * size(slot) +
         config_.hold_by_queue * round_.queue;
}

void JointScheduler::apply(int32_t option, Draft& draft) {
  draft_ = &draft;
  const int32_t slot = round_.current_job;
  while (option != kStay && !try_apply(slot, options_[static_cast<size_t>(option)])) {
    options_.erase(options_.begin() + option);
    score_options();
    option = expert_action_;
  }
  if (round_.running) return;
  if (option == kStay) {
    round_.waits_for_better = round_.waits_for_better || !options_.empty();
    return;
  }
  const std::vector<int32_t>& stopped = options_[static_cast<size_t>(option)].victims;
  if (stopped.empty()) return;
  if (config_.move && view_.may_move()) requeue_victims(stopped);
  unplaceable_.clear();
}

// Applies all edits of the option, or none of them if one is impossible.
bool JointScheduler::try_apply(int32_t slot, const PlacementOption& o) {
  const size_t mark = draft_->mark();
  bool done = !round_.running || draft_->preempt(slot);
  for (const int32_t other : o.victims) done = done && draft_->preempt(other);
  for (const JobMove& move : o.moves) done = done && draft_->preempt(move.slot);
  done = done && draft_->start(slot, o.pieces);
  for (const JobMove& move : o.moves) {
    const int32_t gpus = view_.gpus(move.slot);
    const Piece piece{move.node, gpus, 0, view_.shaped(move.slot) ? gpus : 0};
    done = done && draft_->start(move.slot, &piece, 1);
  }
  if (!done) draft_->undo_to(mark);
  throughput_model_.update_occupants();
  return done;
}

void JointScheduler::commit(Draft& draft) {
  draft.put_stops_first();
  draft.wake_at(round_.movable_at_us);
  if (view_.num_waiting() == 0) return;
  if (view_.num_holders() == 0 && !round_.waits_for_better) return;
  draft.wake_at(view_.now_us() + static_cast<int64_t>(config_.timer_s * 1e6));
}

}  // namespace yard
