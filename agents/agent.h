// What can be trained: the worlds of a task, and how trained weights become a policy. An agent is
// one class that shows rows and takes choices (env/task/row_task.h); one that needs more, such as
// actions on the device, is a file here that enters itself into the registry (see pilot.cc).
#pragma once

#include <memory>
#include <string>
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
  virtual std::string heuristic_name() const = 0;  // for messages: "las", "srsf-history"
};

// Of agents that come with a file here. There are others, of one class: go by the functions below.
using AgentRegistry = Registry<Agent>;

// Of both kinds, sorted.
std::vector<std::string> agent_names();
// Throw InputError where nothing has the name, or it refuses its settings.
Agent::Info agent_info(const std::string& name);
std::unique_ptr<Agent> make_agent(const std::string& name, const Settings& settings);

}  // namespace yard
