// Schedulers that decide order, type, place, preemption and moves together. Jobs go in the order of
// an index, as in index_order.h; each takes what is best of its options (env/sim/options.h), or
// waits on for something better; then those that run may move to where they run faster.
//
//   worth of an option = log2(rate / best rate)                    how fast it is there
//                      - price log2(what the type is to jobs)      who needs a fast type gets it
//                      - harm, fragments, stops, moves, each times its weight
//   it waits on while the best worth < that of its ideal place + log2(rate_floor) - waited/patience
//
// A source of indices is as in index_order.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "env/base/log2.h"
#include "env/sim/options.h"
#include "policies/policy.h"

namespace yard {

struct JointConfig {
  bool preempt = true, move = true, hold = true, choose_type = true;
  double gpu_exponent = 1, margin_log2 = 1, cost_weight = 1, timer_s = 300;
  double rate_floor = 0.5, patience_s = 7200;
  double type_price = 0.3, harm = 1, left_over = 0.1, stop = 0.1, clear = 0.1, spread = 0;
  double move_gain_log2 = 0.5, move_cost = 2, settle_s = 600;
  // What these depend on: how long a job is beside others, how large, how many wait.
  double rate_by_length = 0, rate_by_size = 0, rate_by_queue = 0;
  double price_by_length = 0, price_by_size = 0, price_by_queue = 0;
  double hold_by_length = 0, hold_by_size = 0, hold_by_queue = 0;
  double order_by_gain = 0, order_by_wait = 0, order_by_size = 0;
  void fields(FieldList& f) {
    f("preempt", preempt, "whether running jobs may be stopped for others");
    f("move", move, "whether running jobs may be moved");
    f("hold", hold, "whether a job may wait for a better place than there is");
    f("choose_type", choose_type,
      "whether GPU types differ to it; else it takes the tightest place");
    f("gpu_exponent", gpu_exponent, 0.0, 2.0, "the index is seconds x GPUs to this power");
    f("margin_log2", margin_log2, 0.0, 10.0,
      "by how many doublings better a job must be to preempt");
    f("cost_weight", cost_weight, 0.0, 100.0,
      "how many times what its preemption costs is taken off a running job's index");
    f("timer_s", timer_s, 10.0, 86400.0, "how often running jobs are looked at anew");
    f("rate_floor", rate_floor, 0.01, 1.0,
      "of the best rate, below which a job that has just arrived waits on");
    f("patience_s", patience_s, 1.0, 1e7, "after so long it is content with half of that");
    f("type_price", type_price, 0.0, 2.0,
      "how much a type costs by what it is to jobs on average; 1: all of it");
    f("harm", harm, 0.0, 10.0, "of what those beside it lose, GPU for GPU");
    f("left_over", left_over, 0.0, 2.0, "of GPUs that stay free beside it, in parts of a node");
    f("stop", stop, 0.0, 5.0, "of GPUs of jobs that stop for it, over its own");
    f("clear", clear, 0.0, 5.0, "of GPUs of jobs that move for it, over its own");
    f("spread", spread, 0.0, 5.0, "of lying on more nodes than needed, beside its speed");
    f("move_gain_log2", move_gain_log2, 0.0, 5.0, "by how much more worth a place must be to move");
    f("move_cost", move_cost, 0.0, 100.0,
      "how many times what a move costs it has to gain in the time that it has left");
    const auto residual = [&f](const char* name, double& value, const char* help) {
      f(name, value, -2.0, 2.0, help);
    };
    residual("rate_by_length", rate_by_length, "more weight of speed for a job 8 times the mean");
    residual("rate_by_size", rate_by_size, "the same for one of 8 GPUs");
    residual("rate_by_queue", rate_by_queue,
             "the same where as many GPUs are waited for as there are");
    residual("price_by_length", price_by_length, "more price for a job 8 times the mean");
    residual("price_by_size", price_by_size, "the same for one of 8 GPUs");
    residual("price_by_queue", price_by_queue,
             "the same where as many GPUs are waited for as there are");
    residual("hold_by_length", hold_by_length,
             "doublings of rate by which a job 8 times the mean is harder to please");
    residual("hold_by_size", hold_by_size, "the same for one of 8 GPUs");
    residual("hold_by_queue", hold_by_queue,
             "the same where as many GPUs are waited for as there are");
    residual("order_by_gain", order_by_gain,
             "doublings by which who gains twice as much as the mean by the best type goes later");
    residual("order_by_wait", order_by_wait,
             "doublings by which who has waited an hour goes later");
    residual("order_by_size", order_by_size,
             "doublings by which one of 8 GPUs goes later the more GPUs are waited for");
    f("settle_s", settle_s, 0.0, 86400.0, "for so long a job that was stopped or moved is let be");
  }
};

// Times are work: what a job does on its reference type, whatever it runs on.
class WorkView : public View {
 public:
  explicit WorkView(const View& view) : View(view) {}
  int64_t attained_us(int32_t slot) const { return worked_us(slot); }
};

template <class Source>
class JointPolicy final : public Policy {
 public:
  explicit JointPolicy(const Settings& settings)
      : config_(parse<typename Source::Config>(settings)), source_(config_) {}

  Level level() const override { return Source::kLevel; }

  size_t memory_bytes(const View& view) const override {
    return source_.bytes(view) + Carver::bytes<int64_t>(view.capacity());
  }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    Carver carver(memory.data());
    typename Source::Now now(source_, view, carver);
    int64_t* since_us = carver.take<int64_t>(view.capacity());  // (S) running jobs: since when
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      const int32_t slot = view.changed(i);
      since_us[slot] = view.phase(slot) == Phase::kRunning ? view.since_us(slot) : view.now_us();
    }
    if (view.num_waiting() == 0 && view.num_held() == 0) return;
    Decision decision(*this, view, now, since_us, draft);
    decision.place_waiting();
    if (config_.move) decision.move_running();
    draft.put_stops_first();
    if (decision.look_again_us() != kNever) draft.wake_at(decision.look_again_us());
  }

 private:
  using Rank = std::pair<double, int32_t>;  // lower goes first; equal keys by submission

  // One decision in the making.
  class Decision {
   public:
    Decision(const JointPolicy& policy, const View& view, typename Source::Now& now,
             const int64_t* since_us, Draft& draft)
        : config_(policy.config_),
          view_(view),
          since_us_(since_us),
          draft_(draft),
          foretell_(view),
          options_(view, foretell_,
                   {[this](int32_t a, int32_t b) { return comes_after(a, b); },
                    [this](int32_t a, int32_t b) { return of(a).held_key > of(b).held_key; },
                    [this](int32_t a) { return settled(a); }}) {
      jobs_.resize(static_cast<size_t>(view.high_water()));
      const auto know = [&](int32_t slot) {
        const double best = std::max(foretell_.best(slot), kCrawl);
        of(slot) = {best, std::max(now.seconds(slot), 1.0) / best, 0, 0, false, {}};
        live_.push_back(slot);
      };
      for (int32_t s = view.queue_head(); s != kNone; s = view.queue_next(s)) know(s);
      for (int32_t i = 0; i < view.num_held(); ++i) know(view.held(i));
      compare();
      for (int32_t i = 0; i < view.num_held(); ++i) {
        const int32_t slot = view.held(i);
        const double left_s = of(slot).left_s - config_.cost_weight * cost_s(slot);
        of(slot).held = true;
        of(slot).held_key = {key(slot, left_s) - config_.margin_log2, view.serial(slot)};
      }
    }

    // When things may look different though nothing happens; kNever: not by time alone.
    int64_t look_again_us() const {
      const bool moves = view_.num_held() > 0 || holds_back_;
      if (view_.num_waiting() == 0 || !moves) return settles_us_;
      const int64_t timer_us = view_.now_us() + static_cast<int64_t>(config_.timer_s * 1e6);
      return std::min(timer_us, settles_us_);
    }

    void place_waiting() {
      std::vector<std::pair<Rank, int32_t>> order;
      for (int32_t s = view_.queue_head(); s != kNone; s = view_.queue_next(s)) {
        order.emplace_back(waiting_key(s), s);
      }
      std::sort(order.begin(), order.end());
      std::map<int32_t, bool> hopeless;  // classes of equal requests
      for (size_t i = 0; i < order.size(); ++i) {
        const int32_t slot = order[i].second;
        const int32_t request = view_.size_class(slot);
        const bool alike = !foretell_.modelled(slot);
        if (alike && hopeless.contains(request)) continue;
        asks_ = slot;
        asks_key_ = order[i].first;
        std::vector<Option> options = options_.of(slot, limits());
        const Option* best = choose(slot, options);
        while (best != nullptr && !carry_out(slot, *best)) {
          options.erase(options.begin() + (best - options.data()));
          best = choose(slot, options);
        }
        if (best == nullptr) {
          if (alike && options.empty()) hopeless[request] = true;
          holds_back_ = holds_back_ || !options.empty();
          continue;
        }
        const std::vector<int32_t>& stopped = best->stops;
        for (const int32_t other : stopped) {
          // It may find another place at once: then it has moved.
          const std::pair<Rank, int32_t> again{waiting_key(other), other};
          const auto from = order.begin() + static_cast<std::ptrdiff_t>(i) + 1;
          order.insert(std::upper_bound(from, order.end(), again), again);
        }
        if (!stopped.empty()) hopeless.clear();
      }
    }

    void move_running() {
      if (!differs_) return;
      std::vector<std::pair<Rank, int32_t>> order;
      for (int32_t i = 0; i < view_.num_held(); ++i) {
        const int32_t slot = view_.held(i);
        if (of(slot).held && view_.phase(slot) == Phase::kRunning && view_.preemptible(slot)) {
          order.emplace_back(of(slot).held_key, slot);
        }
      }
      std::sort(order.begin(), order.end());
      for (const auto& [k, slot] : order) {
        const double rate = std::max(foretell_.now(slot), kCrawl);
        const double here = worth_of_place(slot, place_type(slot), rate, 0);
        if (ideal(slot) <= here + config_.move_gain_log2) continue;
        if (!settled(slot)) {
          const auto settle_us = static_cast<int64_t>(config_.settle_s * 1e6);
          settles_us_ = std::min(settles_us_, since_us_[slot] + settle_us);
          continue;
        }
        const auto& options = options_.of(slot, {false, false, false});
        const Option* best = nullptr;
        double most = here + config_.move_gain_log2;
        for (const Option& option : options) {
          const double there = worth(slot, option);
          const double left_s = of(slot).left_s * of(slot).best;
          const double saves_s = left_s / rate - left_s / std::max(option.rate, kCrawl);
          if (there <= most || saves_s < config_.move_cost * cost_s(slot)) continue;
          most = there;
          best = &option;
        }
        if (best == nullptr) continue;
        const Option chosen = *best;
        const size_t mark = draft_.mark();
        if (!draft_.preempt(slot) || !start(slot, chosen.pieces)) draft_.undo_to(mark);
        foretell_.refresh();
      }
    }

   private:
    struct Known {
      double best = 0;    // rate
      double left_s = 0;  // at that
      double length = 0;  // log8 of that over the mean
      double gain = 0;    // log2 of the best rate over that of a mean type, beside the others'
      bool held = false;  // when the decision began; then:
      Rank held_key;
    };

    Known& of(int32_t slot) { return jobs_[static_cast<size_t>(slot)]; }
    const Known& of(int32_t slot) const { return jobs_[static_cast<size_t>(slot)]; }

    OptionLimits limits() const { return {true, config_.preempt, config_.move}; }

    double key(int32_t slot, double seconds) const {
      const double waited_h =
          view_.holds(slot) ? 0
                            : static_cast<double>(view_.now_us() - view_.since_us(slot)) / 3.6e9;
      return log2_coarse(std::max(seconds, 1.0)) +
             config_.gpu_exponent * log2_coarse(view_.weight_gpus(slot)) +
             config_.order_by_gain * of(slot).gain +
             config_.order_by_wait * log2_coarse(1 + waited_h) +
             config_.order_by_size * size(slot) * queue_;
    }
    Rank waiting_key(int32_t slot) const {
      return {key(slot, of(slot).left_s), view_.serial(slot)};
    }

    // For how long a preemption keeps its GPUs from working, now and when it goes on.
    double cost_s(int32_t slot) const {
      const Costs& costs = view_.costs();
      return static_cast<double>(costs.save_us + costs.restore(view_.gpus(slot))) * 1e-6;
    }

    bool long_enough(int32_t slot) const {
      return static_cast<double>(view_.now_us() - since_us_[slot]) >= config_.settle_s * 1e6;
    }
    // Whether a running job may be moved.
    bool settled(int32_t slot) const {
      return view_.phase(slot) == Phase::kRunning && view_.preemptible(slot) && of(slot).held &&
             long_enough(slot);
    }
    bool comes_after(int32_t a, int32_t b) const {
      if (!view_.holds(a) || !view_.preemptible(a)) return false;
      if (!of(a).held || !(asks_key_ < of(a).held_key)) return false;
      return b == asks_ && (view_.preempted(a) == 0 || settled(a));
    }

    // What a job is beside the others.
    void compare() {
      weigh_types();
      double sum = 0, gains = 0;
      for (const int32_t slot : live_) {
        double mean = 0;
        for (int32_t t = 0; t < foretell_.num_types(); ++t) {
          mean += foretell_.together(slot, t) / foretell_.num_types();
        }
        of(slot).gain = log2_coarse(of(slot).best / std::max(mean, kCrawl));
        of(slot).length = log2_coarse(of(slot).left_s);
        sum += of(slot).length;
        gains += of(slot).gain;
      }
      const auto n = static_cast<double>(std::max<size_t>(live_.size(), 1));
      for (const int32_t slot : live_) {
        of(slot).length = (of(slot).length - sum / n) / 3;
        of(slot).gain -= gains / n;
      }
      queue_ = std::min(1.0, static_cast<double>(view_.waiting_gpus()) / view_.total_gpus());
    }

    // log8 of its GPUs.
    double size(int32_t slot) const { return log2_coarse(view_.weight_gpus(slot)) / 3; }

    // What each type is to jobs: the mean of its rate over their best, GPUs as weights.
    void weigh_types() {
      const auto types = static_cast<size_t>(foretell_.num_types());
      std::vector<double> sum(types, 0);
      double all = 0;
      for (const int32_t slot : live_) {
        const double weight = view_.weight_gpus(slot);
        all += weight;
        for (size_t t = 0; t < types; ++t) {
          const double rate = foretell_.together(slot, static_cast<int32_t>(t));
          sum[t] += weight * std::max(rate / of(slot).best, kCrawl);
        }
      }
      for (size_t t = 0; t < types; ++t) {
        type_log2_.push_back(all > 0 ? log2_coarse(sum[t] / all) : 0);
        differs_ = differs_ || type_log2_[t] != type_log2_[0];
      }
      differs_ = differs_ || foretell_.places_differ();
    }

    int32_t place_type(int32_t slot) const {
      return foretell_.node_type(view_.part_node(view_.first_part(slot)));
    }

    double worth_of_place(int32_t slot, int32_t type, double rate, double harm) const {
      double worth = -config_.harm * harm / view_.weight_gpus(slot);
      if (!config_.choose_type) return worth;
      const double speed = 1 + config_.rate_by_length * of(slot).length +
                           config_.rate_by_size * size(slot) + config_.rate_by_queue * queue_;
      worth += speed * log2_coarse(std::max(rate, kCrawl) / of(slot).best);
      const double price = config_.type_price + config_.price_by_length * of(slot).length +
                           config_.price_by_size * size(slot) + config_.price_by_queue * queue_;
      if (type != kNone) worth -= price * type_log2_[static_cast<size_t>(type)];
      return worth;
    }

    double worth(int32_t slot, const Option& o) const {
      const double gpus = view_.weight_gpus(slot);
      double worth = worth_of_place(slot, o.type, o.rate, o.harm);
      worth -= config_.left_over * o.left_over / view_.spec().max_node_gpus;
      if (o.way == Way::kStop) worth -= config_.stop * o.gpus_moved / gpus;
      if (o.way == Way::kClear) worth -= config_.clear * o.gpus_moved / gpus;
      if (o.way == Way::kSpread) worth -= config_.spread;
      return worth;
    }

    // Of the place that it would choose in an empty cluster.
    double ideal(int32_t slot) const {
      double most = -1e9;
      for (int32_t t = 0; t < foretell_.num_types(); ++t) {
        const double rate = foretell_.together(slot, t);
        if (rate > 0) most = std::max(most, worth_of_place(slot, t, rate, 0));
      }
      return most;
    }

    const Option* choose(int32_t slot, const std::vector<Option>& options) const {
      const Option* best = nullptr;
      double most = 0;
      for (const Option& option : options) {
        const double here = worth(slot, option);
        if (best != nullptr && here <= most) continue;
        best = &option;
        most = here;
      }
      if (best == nullptr || !config_.hold || best->type == kNone) return best;
      const double waited_s = static_cast<double>(view_.now_us() - view_.since_us(slot)) * 1e-6;
      const double least = ideal(slot) + log2_coarse(config_.rate_floor) -
                           waited_s / config_.patience_s +
                           config_.hold_by_length * of(slot).length +
                           config_.hold_by_size * size(slot) + config_.hold_by_queue * queue_;
      return most < least ? nullptr : best;
    }

    bool start(int32_t slot, const std::vector<Piece>& pieces) {
      return draft_.start(slot, pieces.data(), static_cast<int32_t>(pieces.size()));
    }

    bool carry_out(int32_t slot, const Option& option) {
      const size_t mark = draft_.mark();
      const bool done = try_out(slot, option);
      if (!done) draft_.undo_to(mark);
      foretell_.refresh();
      return done;
    }

    bool try_out(int32_t slot, const Option& o) {
      for (const int32_t other : o.stops) {
        if (!draft_.preempt(other)) return false;
      }
      for (const Move& move : o.moves) {
        if (!draft_.preempt(move.slot)) return false;
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

    const typename Source::Config& config_;
    const View& view_;
    const int64_t* since_us_;
    Draft& draft_;
    Foretell foretell_;
    Options options_;
    std::vector<Known> jobs_;  // (S)
    std::vector<int32_t> live_;
    bool holds_back_ = false;      // somebody waits for better than there is
    int64_t settles_us_ = kNever;  // when the first that may gain by a move has settled
    std::vector<double> type_log2_;
    double queue_ = 0;  // GPUs waited for over all that there are, at most 1
    bool differs_ = false;
    int32_t asks_ = kNone;  // the job whose options are listed
    Rank asks_key_;
  };

  typename Source::Config config_;
  Source source_;
};

}  // namespace yard
