// Policies that choose order, GPU type, placement, preemptions and migrations together
// (env/scheduling/joint.h). They go by the index of a source as in index_order.h.
#pragma once

#include "env/scheduling/joint.h"
#include "env/sim/view/work_view.h"
#include "policies/policy.h"

namespace yard {

// Makes one decision. `pick(joint)` returns the chosen option of the current job. The memory holds
// the columns of `joint`, then those of the source.
template <class Source, class Pick>
void decide_jointly(const JointConfig& config, const Source& source, const View& view,
                    Memory& memory, Draft& draft, Pick&& pick) {
  BumpAllocator bump(memory.data() + Joint::bytes(view));
  typename Source::Evaluator now(source, view, bump);
  Joint::on_events(view, memory.data());
  if (view.num_waiting() == 0 && view.num_held() == 0) return;
  Joint joint(config, view, memory.data(), &draft);
  joint.begin_round([&](int32_t slot) { return now.seconds(slot); });
  while (joint.next() != kNone) joint.apply(pick(joint));
  joint.commit();
}

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
    decide_jointly(config_, source_, view, memory, draft,
                   [](const Joint& joint) { return joint.expert_action(); });
  }

 private:
  typename Source::Config config_;
  Source source_;
};

}  // namespace yard
