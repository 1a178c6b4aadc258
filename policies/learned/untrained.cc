#include "policies/learned/untrained.h"

#include "env/base/files/file.h"
#include "policies/learned/layers.h"
#include "policies/learned/learned_policy.h"

namespace yard {
namespace {

class Untrained final : public NativeNetwork {
 public:
  explicit Untrained(const ObservationShape& shape) : shape_(shape) {}

  void forward(const Observation& o, std::span<float> logits) const override {
    write_logits(o, shape_, Vector::Zero(o.rows + 1), logits);
  }

 private:
  ObservationShape shape_;
};

// Returns a searched rule's task with its default numbers. What the cluster permits is kept.
nlohmann::ordered_json with_default_numbers(const Checkpoint& checkpoint) {
  Settings kept;
  for (const auto& [key, value] : agent_of(checkpoint)->settings()) {
    if (may_site_switch_off(checkpoint.agent, key)) kept.set(key, value, "task");
  }
  return agent_settings_json(checkpoint.agent, *make_agent(checkpoint.agent, kept));
}

}  // namespace

Checkpoint untrained_of(const Checkpoint& checkpoint) {
  Checkpoint out;
  out.agent = checkpoint.agent;
  const bool rule = checkpoint.network == kNoNetwork;
  out.network = rule ? kNoNetwork : kUntrainedNetwork;
  out.task = rule ? with_default_numbers(checkpoint) : checkpoint.task;
  out.digest = sha256_hex("untrained " + out.agent + ' ' + out.network + ' ' + out.task.dump() +
                          ' ' + make_agent(out.agent, {})->feature_schema(out.agent));
  return out;
}

std::unique_ptr<NativeNetwork> untrained_network(const ObservationShape& shape) {
  return std::make_unique<Untrained>(shape);
}

}  // namespace yard
