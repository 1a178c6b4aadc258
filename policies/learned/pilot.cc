#include "policies/learned/pilot.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "policies/choices.h"
#include "policies/learned/job_scorer.h"

namespace yard {
namespace {

class Pilot final : public TellingPolicy {
 public:
  Pilot(const Checkpoint& checkpoint, const std::string& where)
      : task_(checkpoint.task), net_(checkpoint.weights, where) {}

  Level level() const override { return Level::kHistory; }

  size_t memory_bytes(const View& view) const override { return Dispatch::memory_bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    choose(view, memory, draft, nullptr);
  }

  void decide_and_tell(const View& view, Memory& memory, Draft& draft,
                       Choices& choices) const override {
    choose(view, memory, draft, &choices);
  }

 private:
  void choose(const View& view, Memory& memory, Draft& draft, Choices* choices) const {
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
      if (choices != nullptr) choices->steps.push_back(told(o, logits, best));
      if (best == Dispatch::kNothing) return;
      Dispatch::apply(view, task_, memory.data(), slots[static_cast<size_t>(best)], draft.scratch(),
                      draft);
    }
  }

  static Choice told(const Observation& o, const std::array<float, Dispatch::kActions>& logits,
                     int64_t best) {
    Choice step;
    for (int32_t action = 0; action < Dispatch::kActions; ++action) {
      const auto a = static_cast<size_t>(action);
      if (o.mask[a] == 0) continue;
      if (action == best) step.chosen = static_cast<int32_t>(step.offers.size());
      step.offers.push_back({action == Dispatch::kNothing ? kNone : o.slots[a], logits[a]});
    }
    return step;
  }

  DispatchConfig task_;
  JobScorer net_;
};

}  // namespace

std::unique_ptr<Policy> make_pilot(const Checkpoint& checkpoint, const std::string& where) {
  return std::make_unique<Pilot>(checkpoint, where);
}

}  // namespace yard
