// Schedulers that decide order, type, place, preemption and moves together (env/sim/joint.h), by
// the index of their source, which is as in index_order.h.
#pragma once

#include "env/sim/joint.h"
#include "env/sim/work_view.h"
#include "policies/policy.h"

namespace yard {

// Makes a whole decision. `joint`'s columns lie first in the memory, then the source's;
// `pick(joint)`: which of the options of the job that is asked is taken.
template <class Source, class Pick>
void decide_jointly(const JointConfig& config, const Source& source, const View& view,
                    Memory& memory, Draft& draft, Pick&& pick) {
  Carver carver(memory.data() + Joint::bytes(view));
  typename Source::Now now(source, view, carver);
  Joint::follow(view, memory.data());
  if (view.num_waiting() == 0 && view.num_held() == 0) return;
  Joint joint(config, view, memory.data(), &draft);
  joint.open([&](int32_t slot) { return now.seconds(slot); });
  while (joint.next() != kNone) joint.take(pick(joint));
  joint.close();
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
                   [](const Joint& joint) { return joint.suggested(); });
  }

 private:
  typename Source::Config config_;
  Source source_;
};

}  // namespace yard
