// Broken policies for `yardmaster-faulty-serve`, which is `yardmaster serve` with these policies.
// The chaos test (tests/live/chaos.sh) promotes them under load and rolls back.
#include <chrono>
#include <thread>

#include "policies/decision_trace.h"
#include "policies/learned/learned_policy.h"
#include "policies/policy.h"

namespace yard {
namespace {

class FaultyPolicy : public Policy {
 public:
  explicit FaultyPolicy(const Settings&) {}
};

// As a network whose output is NaN.
class NotFinitePolicy final : public FaultyPolicy {
 public:
  using FaultyPolicy::FaultyPolicy;
  void decide(const View&, Memory&, Draft&) const override { throw NonFinite(); }
};

// Starts every waiting job on a node that the cluster lacks. A draft refuses that, so the policy
// changes the plan directly.
class IllegalNodePolicy final : public FaultyPolicy {
 public:
  using FaultyPolicy::FaultyPolicy;
  void decide(const View& view, Memory&, Draft& draft) const override {
    constexpr int32_t kNoSuchNode = 1 << 20;
    auto& plan = const_cast<Plan&>(draft.plan());
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      plan.edits.push_back(
          {Verb::kStart, view.ref(slot), static_cast<int32_t>(plan.pieces.size()), 1});
      plan.pieces.push_back({kNoSuchNode, view.gpus(slot)});
    }
  }
};

// Takes longer than any time limit of the test.
class SleepingPolicy final : public FaultyPolicy {
 public:
  using FaultyPolicy::FaultyPolicy;
  void decide(const View&, Memory&, Draft&) const override {
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
};

// Starts nothing. The server watches only learned policies for idling, so this one passes for one.
class IdlingPolicy final : public TracedPolicy {
 public:
  explicit IdlingPolicy(const Settings&) {}
  void decide(const View&, Memory&, Draft&) const override {}
  void decide_traced(const View&, Memory&, Draft&, DecisionTrace&) const override {}
  std::vector<std::string> feature_names() const override { return {}; }
};

Policy::Info info(const char* about) { return {.about = about, .source = "", .fidelity = ""}; }

const PolicyRegistry::Add<NotFinitePolicy> kNotFinite{"faulty-nan", info("scores are NaN")};
const PolicyRegistry::Add<IllegalNodePolicy> kIllegalNode{"faulty-node",
                                                          info("names a node that is not there")};
const PolicyRegistry::Add<SleepingPolicy> kSleeping{"faulty-sleep", info("exceeds its time")};
const PolicyRegistry::Add<IdlingPolicy> kIdling{"faulty-idle", info("starts no job")};

}  // namespace
}  // namespace yard
