// Schedulers that decide order, type, place, preemption and moves together (env/sim/joint.h), by
// the index of their source, which is as in index_order.h.
#pragma once

#include "env/sim/joint.h"
#include "env/sim/work_view.h"
#include "policies/policy.h"

namespace yard {

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
    Carver carver(memory.data() + Joint::bytes(view));
    typename Source::Now now(source_, view, carver);
    Joint::follow(view, memory.data());
    if (view.num_waiting() == 0 && view.num_held() == 0) return;
    Joint joint(config_, view, memory.data(), &draft);
    joint.open([&](int32_t slot) { return now.seconds(slot); });
    while (joint.next() != kNone) joint.take(joint.suggested());
    joint.close();
  }

 private:
  typename Source::Config config_;
  Source source_;
};

}  // namespace yard
