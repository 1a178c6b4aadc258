#include "policies/learned/untrained.h"

#include "env/base/files/file.h"
#include "policies/learned/layers.h"
#include "policies/learned/learned_agent.h"
#include "policies/learned/pilot.h"

namespace yard {
namespace {

class Untrained final : public NativeNetwork {
 public:
  explicit Untrained(const TaskShape& shape) : shape_(shape) {}

  void forward(const Observation& o, std::span<float> logits) const override {
    write_logits(o, shape_, Vector::Zero(o.rows + 1), logits);
  }

  Settings settings() const override { return {}; }

 private:
  TaskShape shape_;
};

// Returns the rule with its default numbers. What the cluster allows is kept.
nlohmann::ordered_json with_default_numbers(const nlohmann::ordered_json& json) {
  const PilotTask searched = pilot_from(json);
  PilotTask out;
  out.rule.preempt = searched.rule.preempt;
  out.rule.move = searched.rule.move;
  out.rule.hold = searched.rule.hold;
  out.rule.choose_type = searched.rule.choose_type;
  return pilot_json(out);
}

}  // namespace

Checkpoint untrained_of(const Checkpoint& checkpoint) {
  Checkpoint out;
  out.agent = checkpoint.agent;
  const bool rule = checkpoint.network == "none";
  out.network = rule ? "none" : kUntrainedNetwork;
  out.task = rule ? with_default_numbers(checkpoint.task) : checkpoint.task;
  out.digest = sha256_hex("untrained " + out.agent + ' ' + out.network + ' ' + out.task.dump() +
                          ' ' + learned_agent(out.agent)->feature_schema());
  return out;
}

std::unique_ptr<NativeNetwork> untrained_network(const TaskShape& shape) {
  return std::make_unique<Untrained>(shape);
}

}  // namespace yard
