// Drives an agent through one decision, step by step.
#pragma once

#include <memory>
#include <vector>

#include "env/task/agent.h"

namespace yard::testing {

class AgentSteps {
 public:
  // Requires: all outlive this. `memory`: as the agent's last decision left it.
  AgentSteps(const Agent& agent, const View& view, std::byte* memory)
      : agent_(agent),
        view_(view),
        memory_(memory),
        shape(agent.shape()),
        jobs(static_cast<size_t>(shape.rows) * static_cast<size_t>(shape.row_features)),
        cluster(static_cast<size_t>(shape.cluster_features)),
        prior(static_cast<size_t>(shape.actions())),
        mask(prior.size()),
        exploration_mask(prior.size()),
        slots(static_cast<size_t>(shape.rows)) {
    seen.jobs = jobs.data();
    seen.cluster = cluster.data();
    seen.prior = prior.data();
    seen.mask = mask.data();
    seen.exploration_mask = exploration_mask.data();
    seen.slots = slots.data();
    seen.filled = shape.rows;
    list.needs_exploration = true;
    agent_.on_events(view_, memory_);
    agent_.begin_decision(view_, memory_);
  }
  AgentSteps(const AgentSteps&) = delete;

  // Lists and observes the actions. Returns false if there are none.
  bool next() {
    list.clear();
    agent_.actions(view_, memory_, list);
    if (list.empty()) return false;
    std::fill(exploration_mask.begin(), exploration_mask.end(), uint8_t{0});
    agent_.observe(view_, memory_, list, shape, seen);
    return true;
  }
  void apply(int32_t action, Draft& draft) { agent_.apply(view_, memory_, list.at(action), draft); }
  void commit(Draft& draft) { agent_.commit(view_, memory_, draft); }

 private:
  const Agent& agent_;
  const View& view_;
  AgentMemory memory_;

 public:
  const ObservationShape shape;
  ActionList list;
  std::vector<float> jobs, cluster, prior;
  std::vector<uint8_t> mask, exploration_mask;
  std::vector<int32_t> slots;
  Observation seen{};
};

}  // namespace yard::testing
