#include "policies/learned/pilot.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "policies/learned/job_scorer.h"

namespace yard {
namespace {

class Pilot final : public Policy {
 public:
  Pilot(const Checkpoint& checkpoint, const std::string& where)
      : task_(checkpoint.task), net_(checkpoint.weights, where) {}

  Level level() const override { return Level::kHistory; }

  size_t memory_bytes(const View& view) const override { return Dispatch::memory_bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    draft.wake_at(Dispatch::wake_us(view, task_));
    if (!Dispatch::take_in(view, task_, memory.data())) return;
    std::array<float, Dispatch::kJobs * Dispatch::kJobFeatures> jobs;
    std::array<float, Dispatch::kClusterFeatures> cluster;
    std::array<float, Dispatch::kActions> prior, logits;
    std::array<uint8_t, Dispatch::kActions> mask;
    std::array<int32_t, Dispatch::kJobs> slots;
    Observation o{};
    o.jobs = jobs.data();
    o.cluster = cluster.data();
    o.prior = prior.data();
    o.mask = mask.data();
    o.slots = slots.data();
    o.filled = 0;  // nobody reads rows that do not exist
    for (;;) {
      Dispatch::observe(view, task_, memory.data(), o);
      if (o.choices == 0) return;
      net_.forward(o, logits);
      if (!std::all_of(logits.begin(), logits.end(), [](float v) { return std::isfinite(v); })) {
        throw NonFinite();
      }
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      if (best == Dispatch::kNothing) return;
      Dispatch::apply(view, task_, memory.data(), slots[static_cast<size_t>(best)], draft.scratch(),
                      draft);
    }
  }

 private:
  DispatchConfig task_;
  JobScorer net_;
};

}  // namespace

std::unique_ptr<Policy> make_pilot(const Checkpoint& checkpoint, const std::string& where) {
  return std::make_unique<Pilot>(checkpoint, where);
}

}  // namespace yard
