#include "experiments/train/agreement.h"

#include <map>

#include "experiments/run/parallel.h"
#include "policies/learned/golden.h"
#include "policies/learned/learned_policy.h"

namespace yard {

Agreement agreement_of(const Checkpoint& checkpoint, const RecordedChoices& choices) {
  const auto net = network_of(checkpoint, "training");
  const std::vector<int64_t> offset = choices.offsets();
  const auto steps = static_cast<size_t>(choices.size());
  constexpr size_t kPiece = 512;
  std::vector<uint8_t> agrees(steps), has_choice(steps), action_steps(steps);
  for_each_index(static_cast<int>((steps + kPiece - 1) / kPiece), [&](int piece) {
    const auto n = static_cast<size_t>(choices.shape.actions());
    GoldenState state;
    state.jobs.resize(static_cast<size_t>(choices.shape.rows * choices.shape.row_features));
    state.cluster.resize(static_cast<size_t>(choices.shape.cluster_features));
    state.prior.resize(n);
    state.mask.resize(n);
    state.slots.resize(n);
    std::vector<float> logits(n);
    const size_t from = static_cast<size_t>(piece) * kPiece;
    for (size_t i = from; i < std::min(from + kPiece, steps); ++i) {
      Observation seen = state.observation();
      choices.write_observation(static_cast<int64_t>(i), offset[i], seen);
      net->forward(seen, logits);
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      agrees[i] = best == seen.expert_action;
      has_choice[i] = seen.choices + seen.mask[n - 1] > 1;
      action_steps[i] = seen.expert_action != choices.shape.rows;
    }
  });
  Agreement out;
  std::map<int32_t, bool> reproduced;
  for (size_t i = 0; i < steps; ++i) {
    bool& all = reproduced.try_emplace(choices.decision[i], true).first->second;
    all = all && agrees[i] != 0;
    if (has_choice[i] == 0) continue;
    ++out.steps;
    out.agreed += agrees[i];
    out.action_steps += action_steps[i];
    out.action_steps_agreed += action_steps[i] & agrees[i];
  }
  for (const int32_t number : choices.missed_decision) reproduced[number] = false;
  out.unrepresentable = static_cast<int64_t>(choices.missed_decision.size());
  for (const auto& [number, all] : reproduced) {
    ++out.decisions;
    out.reproduced += all;
    out.by_decision.emplace_back(number, all);
  }
  return out;
}

}  // namespace yard
