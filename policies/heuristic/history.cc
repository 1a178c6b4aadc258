// Counterparts of `sjf`, `srtf` and `srsf` without an oracle: shortest expected remaining time
// (times GPUs) first. The expectation follows from the run times of the user's finished jobs, and
// from how long the unfinished jobs have run. Only `sjf-history` never preempts.
#include <algorithm>

#include "env/predict/user_history.h"
#include "policies/order.h"

namespace yard {
namespace {

struct Predictor {
  double gpu_exponent = 0;
  double shrink = 1;
  double spread = 1.2;
  double sibling_prior = 4;  // among the best for synthetic:habits, seeds 1 to 10
  void fields(FieldList& f) {
    f("gpu_exponent", gpu_exponent, 0.0, 2.0,
      "exponent of GPUs in the index, time x GPUs^gpu_exponent");
    f("shrink", shrink, 0.01, 100.0,
      "weight of all users' jobs in the estimate for one user, as a number of jobs");
    f("spread", spread, 0.2, 3.0, "standard deviation of the natural log of a user's run times");
    f("sibling_prior", sibling_prior, 0.01, 100.0,
      "weight of the user's other jobs, as a number of jobs, in the run time expected for the jobs "
      "of a batch");
  }
};

// Expected remaining time of each waiting or running job, as log2 of seconds x GPUs^gpu_exponent.
// It changes with time for running jobs and their siblings, and for all jobs when one ends.
// Therefore only the records are kept.
class Expected {
 public:
  static size_t bytes(const View& view) {
    return UserHistory::bytes(view) + BumpAllocator::bytes<int32_t>(1);
  }

  // Requires: `memory` is the same at every decision, filled with zeros before the first.
  Expected(const View& view, std::byte* memory, const Predictor& config, const ResidualLife& life)
      : view_(view), history_(memory), config_(config), life_(life) {
    int32_t& point = *reinterpret_cast<int32_t*>(memory + UserHistory::bytes(view));
    ++point;
    history_.learn_finished(view);
    if (view.num_waiting() == 0) return;  // no keys are needed
    const auto all = [&](auto&& visit) {
      for (const int32_t slot : view.holder_slots()) visit(slot);
      for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
        visit(slot);
      }
    };
    const auto shrink = static_cast<float>(config.shrink);
    all([&](int32_t slot) { history_.prepare(view.user(slot), point, shrink); });
    std::vector<int32_t> scratch(static_cast<size_t>(view.num_holders() + view.num_waiting()));
    history_.add_unfinished(view, life, point, scratch.data(), all);
  }

  // `less_s`: seconds subtracted from the expectation.
  double key(int32_t slot, double less_s = 0) const {
    const auto expected = history_.predict(view_.user(slot), view_.submit_us(slot),
                                           static_cast<float>(config_.sibling_prior));
    double left =
        life_.log2_remaining_s(expected.log2_median, log2_seconds(view_.attained_us(slot)));
    if (less_s > 0) left = log2_coarse(std::max(exp2_coarse(left) - less_s, 1.0));
    return left + config_.gpu_exponent * log2_coarse(view_.gpus_at_least_one(slot));
  }

 private:
  const View& view_;
  UserHistory history_;
  const Predictor& config_;
  const ResidualLife& life_;
};

template <class Config>
class History : public PlacementRulePolicy<Config, InformationLevel::kHistory> {
  using Base = PlacementRulePolicy<Config, InformationLevel::kHistory>;

 public:
  static bool preempts() { return Config::kPreempts; }

  explicit History(const Settings& settings) : Base(settings), life_(config_.predictor.spread) {}

  size_t memory_bytes(const View& view) const override {
    return Expected::bytes(view) + RankedQueue::bytes(view);
  }
  size_t kept_memory_bytes(const View& view) const override { return Expected::bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    const Expected expected(view, memory.data(), config_.predictor, life_);
    if (view.num_waiting() == 0) return;
    BumpAllocator bump(memory.data() + Expected::bytes(view));
    RankedQueue ranked(view, bump);
    const auto waiting_key = [&](int32_t slot) { return expected.key(slot); };
    rank_all_waiting(view, ranked, waiting_key);
    if constexpr (Config::kPreempts) {
      std::vector<RankedJob> held;
      for (const int32_t slot : view.holder_slots()) {
        if (!view.preemptible(slot)) continue;
        const double cost_s = 1e-6 * static_cast<double>(save_and_restore_us(view, slot));
        const double key = expected.key(slot, config_.cost_weight * cost_s);
        held.push_back({{key - config_.margin_log2, view.serial(slot)}, slot});
      }
      HeapGpuHolderIterator holders(std::move(held));
      start_or_preempt_in_order(view, ranked, holders, {placement_, 0}, waiting_key, draft);
    } else {
      start_in_order(view, ranked, placement_, draft);
    }
  }

 private:
  using Base::config_, Base::placement_;

  ResidualLife life_;
};

struct SjfConfig : PlacementConfig {
  static constexpr bool kPreempts = false;
  Predictor predictor;
  void fields(FieldList& f) {
    PlacementConfig::fields(f);
    predictor.fields(f);
  }
};

// By time alone: gpu_exponent is 0 by default.
struct SrtfConfig : PlacementConfig {
  static constexpr bool kPreempts = true;
  double margin_log2 = 1;
  double cost_weight = 0;
  Predictor predictor;
  void fields(FieldList& f) {
    PlacementConfig::fields(f);
    f("margin_log2", margin_log2, 0.0, 10.0,
      "log2 of the factor by which the index of a waiting job must be lower to preempt a running "
      "job");
    f("cost_weight", cost_weight, 0.0, 100.0,
      "multiple of the preemption cost to subtract from the time left of a running job");
    predictor.fields(f);
  }
};

struct SrsfConfig : SrtfConfig {
  SrsfConfig() { predictor.gpu_exponent = 1; }
};

constexpr const char* kSource = "mean residual life from users' history; cf. Helios QSSF, SC 2021";

const AddPolicy<History<SjfConfig>> kSjf{
    "sjf-history", "shortest expected job first, predicted from the user's earlier jobs", kSource,
    "our own predictor"};
const AddPolicy<History<SrtfConfig>> kSrtf{
    "srtf-history",
    "shortest expected remaining time first, predicted from the user's earlier jobs", kSource,
    "our own predictor"};
const AddPolicy<History<SrsfConfig>> kSrsf{
    "srsf-history",
    "shortest expected remaining time x GPUs first, predicted from the user's earlier jobs",
    kSource, "our own predictor"};

}  // namespace
}  // namespace yard
