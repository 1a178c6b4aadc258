// What simulation and serving need of an agent: the shape of its observations, and how a checkpoint
// becomes a policy. Each agent is one file (see dispatcher.cc). Its training is in agents/.
#pragma once

#include <memory>
#include <string>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/task/observation.h"
#include "policies/learned/checkpoint.h"
#include "policies/learned/native_network.h"
#include "policies/policy.h"

namespace yard {

class LearnedAgent {
 public:
  static constexpr const char* kKind = "agent";
  struct Info {};

  virtual ~LearnedAgent() = default;
  virtual TaskShape shape() const = 0;
  // Names the features, their order and number. Weights with another schema do not fit.
  virtual std::string feature_schema() const = 0;

  // `settings`: set by the user. Throws InputError naming `where` if the task or the weights do not
  // fit, or naming an unknown setting.
  virtual std::unique_ptr<Policy> policy(const Checkpoint& checkpoint, const std::string& where,
                                         const Settings& settings) const = 0;
  virtual Policy::Info info(const Checkpoint& checkpoint) const = 0;
};

// Agents with a file in this folder. Agents of one class are found only by learned_agent().
using LearnedRegistry = Registry<LearnedAgent>;

// Throws InputError if no agent has this name.
std::unique_ptr<LearnedAgent> learned_agent(const std::string& name);

// Returns the settings in a checkpoint's task, without the name. Throws InputError if a value is
// not a string.
Settings task_settings(const nlohmann::ordered_json& task);

// Returns the policy of a checkpoint. Throws as LearnedAgent::policy() does.
std::unique_ptr<Policy> policy_of(const Checkpoint& checkpoint, const std::string& where,
                                  const Settings& settings = {});

// Returns the network of a checkpoint. Throws InputError naming `where` if there is no such
// network, or if the weights do not fit it.
std::unique_ptr<NativeNetwork> network_of(const Checkpoint& checkpoint, const std::string& where);

// Thrown by decide() when the network's output is not finite.
class NonFinite : public std::runtime_error {
 public:
  NonFinite() : std::runtime_error("the network's output is not finite") {}
};

// Reads numbers of a task's JSON. Throws InputError naming one that is out of range.
class TaskReader {
 public:
  explicit TaskReader(const nlohmann::ordered_json& json) : json_(json) {}

  template <class T>
  T number(const char* name, T min_value, T max_value) const {
    const auto value = json_.at(name).get<T>();
    if (value >= min_value && value <= max_value) return value;
    throw InputError(std::string("task.") + name,
                     "in [" + shortest(min_value) + ", " + shortest(max_value) + "]",
                     json_.at(name).dump());
  }

 private:
  const nlohmann::ordered_json& json_;
};

}  // namespace yard
