#include "env/task/agent.h"

#include <algorithm>

#include "env/base/core/check.h"

namespace yard {

Action ActionList::at(int32_t index) const {
  if (index >= 0 && index < size()) return actions[static_cast<size_t>(index)];
  return {.kind = Action::kNoOp};
}

void ActionList::set_priors_for_expert(double gap) {
  const float behind = -static_cast<float>(gap);
  for (int32_t i = 0; i < size(); ++i) {
    actions[static_cast<size_t>(i)].prior = i == expert ? 0 : behind;
  }
  noop_prior = expert == kNone ? 0 : behind;
}

void Agent::describe_actions(const View& view, AgentMemory& memory, const ActionList& list,
                             float* out) const {
  const auto width = static_cast<int64_t>(action_features().size());
  std::fill_n(out, list.size() * width, 0.0F);
  for (const Action& action : list.actions) {
    features(view, memory, action, out);
    out += width;
  }
}

void Agent::features(const View&, AgentMemory&, const Action&, float*) const {
  YARD_CHECK(false, "an agent defines features() or describe_actions()");
}

ObservationShape Agent::shape() const {
  return {max_actions(), static_cast<int32_t>(action_features().size()),
          static_cast<int32_t>(state_features().size())};
}

std::string Agent::feature_schema(const std::string& name) const {
  std::string out = name + ' ' + std::to_string(feature_version()) + ", " +
                    std::to_string(max_actions()) + " actions:";
  for (const Feature& f : action_features()) out += ' ' + f.name;
  out += "; state:";
  for (const Feature& f : state_features()) out += ' ' + f.name;
  return out;
}

void Agent::observe(const View& view, AgentMemory& memory, const ActionList& list,
                    const ObservationShape& shape, Observation& out) const {
  const int32_t n = list.size();
  YARD_CHECK(n <= shape.rows, "more actions than the agent declares");
  describe_actions(view, memory, list, out.jobs);
  describe_state(view, memory, list, out.cluster);
  if (out.filled > n) {
    std::fill_n(out.jobs + int64_t{n} * shape.row_features,
                int64_t{out.filled - n} * shape.row_features, 0.0F);
  }
  out.rows = out.filled = n;
  out.choices = 0;
  out.expert_action = list.expert == kNone ? shape.rows : list.expert;
  for (int32_t i = 0; i < n; ++i) {
    const Action& action = list.actions[static_cast<size_t>(i)];
    out.slots[i] = action.slot;
    out.mask[i] = action.legal;
    out.choices += action.legal;
    if (out.prior != nullptr) out.prior[i] = action.legal ? action.prior : kMaskedLogit;
    if (out.exploration_mask != nullptr && action.explore) out.exploration_mask[i] = 1;
  }
  std::fill(out.mask + n, out.mask + shape.rows, uint8_t{0});
  out.mask[shape.rows] = list.noop_legal;
  if (out.prior == nullptr) return;
  std::fill(out.prior + n, out.prior + shape.rows, kMaskedLogit);
  out.prior[shape.rows] = list.noop_legal ? list.noop_prior : kMaskedLogit;
}

}  // namespace yard
