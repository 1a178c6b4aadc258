// Policies that order jobs by an index: each job has a number of seconds, which changes as jobs run
// and end. The job with the lowest product of index and GPUs goes first, where PriorityIndexPolicy
// raises the GPUs to a power. Its margin and the preemption cost keep two jobs from preempting each
// other in turn.
//
// A source of indices is a struct with
//   struct Config : PriorityIndexConfig        its settings;
//   static constexpr InformationLevel kLevel;     its level of information;
//   Source(const Config&)
//   size_t bytes(const View&) const    size of its memory;
//   class Evaluator                    one decision: Evaluator(const Source&, const View&,
//                                      BumpAllocator&) updates the source; seconds(slot) is the
//                                      index of a live job.
#pragma once

#include "env/base/core/log2.h"
#include "policies/order.h"

namespace yard {

struct PriorityIndexConfig : PlacementConfig {
  bool preempt = true;
  double gpu_exponent = 1;
  double margin_log2 = 1;
  double cost_weight = 1;
  double timer_s = 300;
  void fields(FieldList& f) {
    PlacementConfig::fields(f);
    f("preempt", preempt, "allow waiting jobs to preempt running jobs");
    f("gpu_exponent", gpu_exponent, 0.0, 2.0,
      "exponent of GPUs in the index, seconds x GPUs^gpu_exponent");
    f("margin_log2", margin_log2, 0.0, 10.0,
      "log2 of the factor by which the index of a waiting job must be lower to preempt a running "
      "job");
    f("cost_weight", cost_weight, 0.0, 100.0,
      "multiple of the preemption cost to subtract from the index of a running job");
    f("timer_s", timer_s, 10.0, 86400.0, "interval between checks for jobs to preempt, in seconds");
  }
};

// A source whose index is kUs, a function of View which returns microseconds.
template <class ConfigT, InformationLevel kSourceLevel, auto kUs>
struct ViewPriorityIndex {
  using Config = ConfigT;
  static constexpr InformationLevel kLevel = kSourceLevel;
  explicit ViewPriorityIndex(const Config&) {}
  static size_t bytes(const View&) { return 0; }
  struct Evaluator {
    Evaluator(const ViewPriorityIndex&, const View& view, BumpAllocator&) : view(view) {}
    double seconds(int32_t slot) const { return static_cast<double>((view.*kUs)(slot)) * 1e-6; }
    const View& view;
  };
};

template <class Source>
class PriorityIndexPolicy final
    : public PlacementRulePolicy<typename Source::Config, Source::kLevel> {
  using Base = PlacementRulePolicy<typename Source::Config, Source::kLevel>;

 public:
  static bool preempts() { return typename Source::Config().preempt; }

  explicit PriorityIndexPolicy(const Settings& settings) : Base(settings), source_(config_) {}

  size_t memory_bytes(const View& view) const override {
    return source_.bytes(view) + RankedQueue::bytes(view);
  }
  size_t kept_memory_bytes(const View& view) const override { return source_.bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    typename Source::Evaluator now(source_, view, bump);
    RankedQueue ranked(view, bump);
    if (view.num_waiting() == 0) return;
    const auto waiting_key = [&](int32_t slot) { return key(view, slot, now.seconds(slot)); };
    rank_all_waiting(view, ranked, waiting_key);
    if (!config_.preempt) {
      start_in_order(view, ranked, placement_, draft);
      return;
    }
    std::vector<RankedJob> held;
    for (const int32_t slot : view.holder_slots()) {
      if (!view.preemptible(slot)) continue;
      const double cost_s = 1e-6 * static_cast<double>(save_and_restore_us(view, slot));
      const double left_s = now.seconds(slot) - config_.cost_weight * cost_s;
      held.push_back({{key(view, slot, left_s) - config_.margin_log2, view.serial(slot)}, slot});
    }
    HeapGpuHolderIterator holders(std::move(held));
    start_or_preempt_in_order(view, ranked, holders, {placement_, 0}, waiting_key, draft);
    // The indices of running jobs change between events, so a timer is set.
    if (view.num_waiting() > 0 && view.num_holders() > 0) {
      draft.wake_at(view.now_us() + static_cast<int64_t>(config_.timer_s * 1e6));
    }
  }

 private:
  using Base::config_, Base::placement_;

  // Returns the log2 of seconds x GPUs^gpu_exponent.
  double key(const View& view, int32_t slot, double seconds) const {
    return log2_coarse(std::max(seconds, 1.0)) +
           config_.gpu_exponent * log2_coarse(view.gpus_at_least_one(slot));
  }

  Source source_;
};

}  // namespace yard
