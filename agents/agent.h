// What can be trained: the worlds of a task, and how trained weights become a policy. An agent is
// one file that enters itself into the registry (see pilot.cc).
#pragma once

#include <memory>
#include <vector>

#include "agents/trained.h"
#include "agents/worlds.h"
#include "env/base/registry.h"
#include "policies/policy.h"

namespace yard {

class Agent {
 public:
  static constexpr const char* kKind = "agent";
  struct Info {
    std::string about, source, fidelity, information;
    std::vector<Field> (*settings)();
  };

  virtual ~Agent() = default;
  virtual std::unique_ptr<Worlds> worlds(std::vector<Course> courses,
                                         const WorldsOptions& options) const = 0;
  virtual Checkpoint checkpoint(const Trained& trained) const = 0;
  // The heuristic that training begins with, and that validation compares with.
  virtual std::unique_ptr<Policy> heuristic() const = 0;
};

using AgentRegistry = Registry<Agent>;

}  // namespace yard
