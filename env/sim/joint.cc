#include "env/sim/joint.h"

#include <algorithm>
#include <cmath>

#include "env/base/log2.h"

namespace yard {
Joint::Columns Joint::columns(const View& view, std::byte* memory) {
  Carver carver(memory);
  const int32_t slots = view.capacity();
  Columns at{};
  at.now = carver.allocate<Now>(1);
  at.since_us = carver.allocate<int64_t>(slots);
  at.standing = carver.allocate<Standing>(slots);
  at.type_log2 = carver.allocate<double>(view.spec().num_types);
  at.line = carver.allocate<Place>(slots);
  return at;
}

size_t Joint::bytes(const View& view) {
  const int32_t slots = view.capacity();
  return Carver::bytes<Now>(1) + Carver::bytes<int64_t>(slots) + Carver::bytes<Standing>(slots) +
         Carver::bytes<double>(view.spec().num_types) + Carver::bytes<Place>(slots);
}

void Joint::follow(const View& view, std::byte* memory) {
  const Columns at = columns(view, memory);
  for (int32_t i = 0; i < view.num_changed(); ++i) {
    const int32_t slot = view.changed(i);
    at.since_us[slot] = view.phase(slot) == Phase::kRunning ? view.since_us(slot) : view.now_us();
  }
}

Joint::Joint(const JointConfig& config, const View& view, std::byte* memory, Draft* draft)
    : config_(config),
      view_(view),
      at_(columns(view, memory)),
      now_(*at_.now),
      draft_(draft),
      foretell_(view),
      generator_(view, foretell_,
                 {[this](int32_t a, int32_t b) { return comes_after(a, b); },
                  [this](int32_t a, int32_t b) { return held_rank(a) > held_rank(b); },
                  [this](int32_t a) { return settled(a); }}) {}

void Joint::open(const std::function<double(int32_t)>& seconds) {
  now_ = {.queue = std::min(1.0, static_cast<double>(view_.waiting_gpus()) / view_.total_gpus()),
          .settles_us = kNever,
          .line = 0,
          .of = 0,
          .asked = kNone,
          .running = false,
          .holds_back = false,
          .differs = false};
  std::vector<int32_t> live;
  const auto know = [&](int32_t slot) {
    const double best = std::max(foretell_.best(slot), kCrawl);
    at_.standing[slot] = {best, std::max(seconds(slot), 1.0) / best, 0, 0, 0, false};
    live.push_back(slot);
  };
  for (int32_t s = view_.queue_head(); s != kNone; s = view_.queue_next(s)) know(s);
  for (int32_t i = 0; i < view_.num_held(); ++i) know(view_.held(i));
  compare(live);
  for (int32_t i = 0; i < view_.num_held(); ++i) {
    const int32_t slot = view_.held(i);
    Standing& of = at_.standing[slot];
    of.held = true;
    const double margin = config_.margin_log2 + config_.margin_by_size * size(slot) +
                          config_.margin_by_queue * now_.queue;
    of.held_key = key(slot, of.left_s - config_.cost_weight * cost_s(slot)) - std::max(margin, 0.0);
  }
  line_up_waiting();
}

// --- visiting order

int32_t Joint::asked(const View& view, const std::byte* memory) {
  return columns(view, const_cast<std::byte*>(memory)).now->asked;
}

int32_t Joint::next() {
  for (;;) {
    now_.asked = kNone;
    while (now_.line < now_.of) {
      now_.asked = at_.line[now_.line++].slot;
      look();
      if (!choices_.empty()) return now_.asked;
    }
    if (now_.running || !config_.move || !view_.may_move() || !now_.differs) {
      now_.asked = kNone;
      return kNone;
    }
    line_up_running();
  }
}

void Joint::line_up_waiting() {
  for (int32_t s = view_.queue_head(); s != kNone; s = view_.queue_next(s)) {
    const auto [key, serial] = waiting_rank(s);
    at_.line[now_.of++] = {key, serial, s};
  }
  std::sort(at_.line, at_.line + now_.of,
            [](const Place& a, const Place& b) { return a.rank() < b.rank(); });
}

void Joint::line_up_running() {
  now_.running = true;
  now_.line = now_.of = 0;
  for (int32_t i = 0; i < view_.num_held(); ++i) {
    const int32_t slot = view_.held(i);
    const bool runs = view_.phase(slot) == Phase::kRunning && view_.preemptible(slot);
    if (standing(slot).held && runs) {
      at_.line[now_.of++] = {standing(slot).held_key, view_.serial(slot), slot};
    }
  }
  std::sort(at_.line, at_.line + now_.of,
            [](const Place& a, const Place& b) { return a.rank() < b.rank(); });
}

// Queues jobs again that were preempted for the current job. They may find another placement in
// this round; then they have moved.
void Joint::stand_again(const std::vector<int32_t>& stopped) {
  for (const int32_t slot : stopped) {
    const Rank rank = waiting_rank(slot);
    Place* at = std::upper_bound(at_.line + now_.line, at_.line + now_.of, rank,
                                 [](const Rank& r, const Place& p) { return r < p.rank(); });
    std::move_backward(at, at_.line + now_.of, at_.line + now_.of + 1);
    *at = {rank.first, rank.second, slot};
    ++now_.of;
  }
}

double Joint::key(int32_t slot, double seconds) const {
  return log2_coarse(std::max(seconds, 1.0)) +
         config_.gpu_exponent * log2_coarse(view_.weight_gpus(slot)) +
         config_.order_by_gain * standing(slot).gain +
         config_.order_by_size * size(slot) * now_.queue;
}

Joint::Rank Joint::waiting_rank(int32_t slot) const {
  const double waited_h = static_cast<double>(view_.now_us() - view_.since_us(slot)) / 3.6e9;
  const double by_wait = config_.order_by_wait * log2_coarse(1 + waited_h);
  return {key(slot, standing(slot).left_s) + by_wait, view_.serial(slot)};
}

// For preemption, the wait does not count: a victim would gain by its wait and preempt in turn.
Joint::Rank Joint::stopping_rank(int32_t slot) const {
  return {key(slot, standing(slot).left_s), view_.serial(slot)};
}

// Seconds of GPU work that a preemption costs the job, for its save and its restore.
double Joint::cost_s(int32_t slot) const {
  const Costs& costs = view_.costs();
  return static_cast<double>(costs.save_us + costs.restore(view_.gpus(slot))) * 1e-6;
}

// Whether a running job may be moved.
bool Joint::settled(int32_t slot) const {
  return view_.phase(slot) == Phase::kRunning && view_.preemptible(slot) && standing(slot).held &&
         static_cast<double>(view_.now_us() - at_.since_us[slot]) >= config_.settle_s * 1e6;
}

bool Joint::comes_after(int32_t a, int32_t b) const {
  if (!view_.holds(a) || !view_.preemptible(a)) return false;
  if (now_.running || b != now_.asked || !standing(a).held) return false;
  return asked_rank_ < held_rank(a) && (view_.preempted(a) == 0 || settled(a));
}

// --- jobs compared with each other

double Joint::size(int32_t slot) const { return log2_coarse(view_.weight_gpus(slot)) / 3; }

void Joint::compare(const std::vector<int32_t>& live) {
  weigh_types(live);
  double sum = 0, gains = 0;
  for (const int32_t slot : live) {
    Standing& of = at_.standing[slot];
    double mean = 0;
    for (int32_t t = 0; t < foretell_.num_types(); ++t) {
      mean += foretell_.together(slot, t) / foretell_.num_types();
    }
    of.gain = log2_coarse(of.best / std::max(mean, kCrawl));
    of.length = log2_coarse(of.left_s);
    sum += of.length;
    gains += of.gain;
  }
  const auto n = static_cast<double>(std::max<size_t>(live.size(), 1));
  for (const int32_t slot : live) {
    Standing& of = at_.standing[slot];
    of.length = (of.length - sum / n) / 3;
    of.gain -= gains / n;
  }
}

// Mean rate on each type relative to the jobs' best, weighted by GPUs; as log2.
void Joint::weigh_types(const std::vector<int32_t>& live) {
  const int32_t types = foretell_.num_types();
  std::fill_n(at_.type_log2, types, 0.0);
  double all = 0;
  for (const int32_t slot : live) {
    const double weight = view_.weight_gpus(slot);
    all += weight;
    for (int32_t t = 0; t < types; ++t) {
      at_.type_log2[t] +=
          weight * std::max(foretell_.together(slot, t) / standing(slot).best, kCrawl);
    }
  }
  now_.differs = foretell_.places_differ();
  for (int32_t t = 0; t < types; ++t) {
    at_.type_log2[t] = all > 0 ? log2_coarse(at_.type_log2[t] / all) : 0;
    now_.differs = now_.differs || at_.type_log2[t] != at_.type_log2[0];
  }
}

// --- options and their worth

void Joint::look() {
  const int32_t slot = now_.asked;
  choices_.clear();
  if (!now_.running) {
    const bool alike = !foretell_.modelled(slot);
    if (alike && hopeless_.contains(view_.size_class(slot))) return;
    asked_rank_ = stopping_rank(slot);
    choices_ = generator_.of(slot, {true, config_.preempt, config_.move});
    if (alike && choices_.empty()) hopeless_.insert(view_.size_class(slot));
    staying_ = least_worth(slot);
    judge();
    return;
  }
  // Another job's move may have stopped it, or it may have nothing to gain.
  if (view_.phase(slot) != Phase::kRunning) return;
  const double rate = std::max(foretell_.now(slot), kCrawl);
  const int32_t type = foretell_.node_type(view_.part_node(view_.first_part(slot)));
  staying_ = worth_of_place(slot, type, rate, 0) + config_.move_gain_log2;
  if (ideal(slot) <= staying_) return;
  if (!settled(slot)) {
    const auto settle_us = static_cast<int64_t>(config_.settle_s * 1e6);
    now_.settles_us = std::min(now_.settles_us, at_.since_us[slot] + settle_us);
    return;
  }
  const double left_s = standing(slot).left_s * standing(slot).best;
  for (Option& option : generator_.of(slot, {false, false, false})) {
    const double saves_s = left_s / rate - left_s / std::max(option.rate, kCrawl);
    const bool pays = saves_s >= config_.move_cost * cost_s(slot);
    if (pays && worth_of(slot, option) > staying_) choices_.push_back(std::move(option));
  }
  judge();
}

bool Joint::may_stay() const {
  if (now_.running) return true;
  const bool typed = suggested_ == kStay || choices_[static_cast<size_t>(suggested_)].type != kNone;
  return config_.hold && typed && view_.num_live() > view_.num_waiting() + view_.num_blocked();
}

// Computes the worth of all options and suggests one.
void Joint::judge() {
  worths_.clear();
  suggested_ = kStay;
  double most = 0;
  for (const Option& option : choices_) {
    worths_.push_back(worth_of(now_.asked, option));
    if (suggested_ != kStay && worths_.back() <= most) continue;
    suggested_ = static_cast<int32_t>(worths_.size()) - 1;
    most = worths_.back();
  }
  if (suggested_ == kStay || now_.running || most >= staying_) return;
  if (may_stay() && could_gain(choices_[static_cast<size_t>(suggested_)])) {
    suggested_ = kStay;
  } else {
    staying_ = most;
  }
}

// Whether waiting could bring a better placement or spare a victim. A job that gets what it would
// choose in an empty cluster has nothing to wait for.
bool Joint::could_gain(const Option& o) const {
  constexpr double kAlike = 0.05;  // doublings
  if (!o.stops.empty() || !o.moves.empty()) return true;
  const double here = worth_of_place(now_.asked, o.type, o.rate, o.harm);
  return here < ideal(now_.asked) - kAlike;
}

double Joint::worth_of_place(int32_t slot, int32_t type, double rate, double harm) const {
  double worth = -config_.harm * harm / view_.weight_gpus(slot);
  if (!config_.choose_type) return worth;
  const Standing& of = standing(slot);
  const double speed = 1 + config_.rate_by_length * of.length + config_.rate_by_size * size(slot) +
                       config_.rate_by_queue * now_.queue;
  worth += speed * log2_coarse(std::max(rate, kCrawl) / of.best);
  const double price = config_.type_price + config_.price_by_length * of.length +
                       config_.price_by_size * size(slot) + config_.price_by_queue * now_.queue;
  if (type != kNone) worth -= price * type_log2(type);
  return worth;
}

double Joint::worth_of(int32_t slot, const Option& o) const {
  const double gpus = view_.weight_gpus(slot);
  double worth = worth_of_place(slot, o.type, o.rate, o.harm);
  worth -= config_.left_over * o.left_over / view_.spec().max_node_gpus;
  if (o.way == Way::kStop) worth -= config_.stop * o.gpus_moved / gpus;
  if (o.way == Way::kClear) worth -= config_.clear * o.gpus_moved / gpus;
  if (o.way == Way::kSpread) worth -= config_.spread;
  return worth;
}

// The worth of the placement that the job would choose in an empty cluster.
double Joint::ideal(int32_t slot) const {
  double most = -1e9;
  for (int32_t t = 0; t < foretell_.num_types(); ++t) {
    const double rate = foretell_.together(slot, t);
    if (rate > 0) most = std::max(most, worth_of_place(slot, t, rate, 0));
  }
  return most;
}

// The worth below which a waiting job keeps waiting.
double Joint::least_worth(int32_t slot) const {
  const double waited_s = static_cast<double>(view_.now_us() - view_.since_us(slot)) * 1e-6;
  return ideal(slot) + log2_coarse(config_.rate_floor) - waited_s / config_.patience_s +
         config_.hold_by_length * standing(slot).length + config_.hold_by_size * size(slot) +
         config_.hold_by_queue * now_.queue;
}

// --- applying options

void Joint::take(int32_t pick) {
  const int32_t slot = now_.asked;
  while (pick != kStay && !carry_out(slot, choices_[static_cast<size_t>(pick)])) {
    choices_.erase(choices_.begin() + pick);
    judge();
    pick = suggested_;
  }
  if (now_.running) return;
  if (pick == kStay) {
    now_.holds_back = now_.holds_back || !choices_.empty();
    return;
  }
  const std::vector<int32_t>& stopped = choices_[static_cast<size_t>(pick)].stops;
  if (stopped.empty()) return;
  if (config_.move && view_.may_move()) stand_again(stopped);
  hopeless_.clear();
}

bool Joint::carry_out(int32_t slot, const Option& option) {
  const size_t mark = draft_->mark();
  const bool done = try_out(slot, option);
  if (!done) draft_->undo_to(mark);
  foretell_.refresh();
  return done;
}

bool Joint::try_out(int32_t slot, const Option& o) {
  if (now_.running && !draft_->preempt(slot)) return false;
  for (const int32_t other : o.stops) {
    if (!draft_->preempt(other)) return false;
  }
  for (const Move& move : o.moves) {
    if (!draft_->preempt(move.slot)) return false;
  }
  if (!start(slot, o.pieces)) return false;
  for (const Move& move : o.moves) {
    const int32_t gpus = view_.gpus(move.slot);
    if (!start(move.slot, {{move.node, gpus, 0, view_.shaped(move.slot) ? gpus : 0}})) {
      return false;
    }
  }
  return true;
}

bool Joint::start(int32_t slot, const std::vector<Piece>& pieces) {
  return draft_->start(slot, pieces.data(), static_cast<int32_t>(pieces.size()));
}

int64_t Joint::look_again_us() const {
  const bool moves = view_.num_held() > 0 || now_.holds_back;
  if (view_.num_waiting() == 0 || !moves) return now_.settles_us;
  return std::min(view_.now_us() + static_cast<int64_t>(config_.timer_s * 1e6), now_.settles_us);
}

void Joint::close() {
  draft_->put_stops_first();
  if (look_again_us() != kNever) draft_->wake_at(look_again_us());
}

}  // namespace yard
