// Policies that choose order, GPU type, placement, preemptions and migrations together
// (env/scheduling/joint.h). They go by the index of a source as in index_order.h.
#pragma once

#include "env/scheduling/joint.h"
#include "env/sim/view/work_view.h"
#include "policies/policy.h"

namespace yard {

// The memory holds the columns of Joint, then those of the source.
template <class Source>
class JointPolicy final : public Policy {
 public:
  explicit JointPolicy(const Settings& settings)
      : config_(parse<typename Source::Config>(settings)), source_(config_) {}

  Level level() const override { return Source::kLevel; }

  size_t memory_bytes(const View& view) const override {
    return Joint::bytes(view) + source_.bytes(view);
  }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data() + Joint::bytes(view));
    typename Source::Evaluator now(source_, view, bump);
    Joint::on_events(view, memory.data());
    if (view.num_waiting() == 0 && view.num_held() == 0) return;
    Joint joint(config_, view, memory.data());
    joint.begin_round([&](int32_t slot) { return now.seconds(slot); });
    while (joint.next() != kNone) joint.apply(joint.expert_action(), draft);
    joint.commit(draft);
  }

 private:
  typename Source::Config config_;
  Source source_;
};

}  // namespace yard
