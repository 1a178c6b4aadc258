#include "experiments/coverage.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "env/base/check.h"
#include "env/predict/survival.h"

namespace yard {
namespace {

struct Asked {
  int32_t job;
  bool begun;
  int64_t attained_us;
  std::array<float, 7> left_s;  // by kQuantiles
};

// The ends of the intervals, and the median, by rising share.
constexpr float kQuantiles[] = {0.05F, 0.1F, 0.25F, 0.5F, 0.75F, 0.9F, 0.95F};
constexpr size_t kMedian = 3;
constexpr std::array<std::pair<size_t, size_t>, 3> kEnds = {{{2, 4}, {1, 5}, {0, 6}}};

struct Asking {
  const Workload& workload;
  int64_t every_us;
  std::vector<Asked> asked;
  std::vector<int64_t> ran_us;  // (N) of jobs that have ended, kNone
};

// Decides as another does, and asks the predictor beside it.
class Beside final : public Policy {
 public:
  Beside(std::unique_ptr<Policy> policy, Asking& asking)
      : policy_(std::move(policy)), asking_(asking) {}

  Level level() const override { return policy_->level(); }
  Level least_level() const override { return policy_->least_level(); }
  size_t memory_bytes(const View& view) const override { return policy_->memory_bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    if (own_.bytes() == 0) own_.reset(Survival::bytes(view));
    Carver carver(own_.data());
    Survival survival(view, carver);
    survival.follow(view);
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      const int32_t slot = view.changed(i);
      if (!view.finished(slot)) continue;
      asking_.ran_us[static_cast<size_t>(view.serial(slot))] = view.attained_us(slot);
    }
    if (view.now_us() >= next_us_) {
      next_us_ = view.now_us() + asking_.every_us;
      for (int32_t i = 0; i < view.num_held(); ++i) ask(view, survival, view.held(i));
      for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
        ask(view, survival, slot);
      }
    }
    policy_->decide(view, memory, draft);
  }

 private:
  void ask(const View& view, const Survival& survival, int32_t slot) const {
    const int32_t job = view.serial(slot);
    if (!asking_.workload.scored(job)) return;
    const int64_t attained_us = view.attained_us(slot);
    float hazards[TimeBins::kBins] = {};
    survival.hazards(view, slot, SurvivalWeights(), hazards);
    Asked asked{job, attained_us > 0, attained_us, {}};
    quantiles_left(edges_, attained_us, hazards, kQuantiles,
                   static_cast<int32_t>(asked.left_s.size()), asked.left_s.data());
    asking_.asked.push_back(asked);
  }

  std::unique_ptr<Policy> policy_;
  Asking& asking_;
  BinEdges edges_;
  // One replay through one object, in order: what it remembers beside the policy.
  mutable Memory own_;
  mutable int64_t next_us_ = 0;
};

class Tally {
 public:
  void add(const Asked& asked, double left_s) {
    ++group_.asked;
    for (size_t k = 0; k < kEnds.size(); ++k) {
      const auto [low, high] = kEnds[k];
      group_.within[k] += asked.left_s[low] <= left_s && left_s <= asked.left_s[high];
    }
    const double told_s = std::max<double>(asked.left_s[kMedian], 1);
    errors_.push_back(std::abs(std::log2(told_s / std::max(left_s, 1.0))));
  }

  CoverageGroup done() {
    if (errors_.empty()) return group_;
    const auto middle = errors_.begin() + static_cast<std::ptrdiff_t>(errors_.size() / 2);
    std::nth_element(errors_.begin(), middle, errors_.end());
    group_.median_error_log2 = *middle;
    return group_;
  }

 private:
  CoverageGroup group_;
  std::vector<double> errors_;
};

}  // namespace

Coverage coverage(const Scenario& scenario, Contestant contestant, const RunOptions& options,
                  double every_s) {
  YARD_CHECK(contestant.policy != nullptr, "a rule set's own scheduler cannot be asked beside");
  Asking asking{scenario.workload, static_cast<int64_t>(every_s * 1e6), {}, {}};
  asking.ran_us.assign(static_cast<size_t>(scenario.workload.size()), kNone);
  contestant.policy = std::make_unique<Beside>(std::move(contestant.policy), asking);
  contestant.level = std::max(contestant.level, Level::kHistory);
  run_prepared(scenario, contestant, options);
  Tally all, waiting, begun;
  for (const Asked& asked : asking.asked) {
    const int64_t ran_us = asking.ran_us[static_cast<size_t>(asked.job)];
    if (ran_us == kNone) continue;
    const double left_s = static_cast<double>(ran_us - asked.attained_us) * 1e-6;
    all.add(asked, left_s);
    (asked.begun ? begun : waiting).add(asked, left_s);
  }
  return {all.done(), waiting.done(), begun.done()};
}

}  // namespace yard
