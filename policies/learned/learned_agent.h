// What a checkpoint of an agent is to whoever plays or serves it: how large what its network sees
// is, and how weights become a policy. One file an agent (see dispatcher.cc); how it is trained is
// in agents/.
#pragma once

#include <memory>
#include <string>

#include "env/base/error.h"
#include "env/base/registry.h"
#include "env/base/text.h"
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
  // Names the features, their order and number: weights fit no other.
  virtual std::string feature_schema() const = 0;

  // `settings`: what its user may set. Throws InputError naming `where` when the task or the
  // weights do not fit, or naming a setting that is none.
  virtual std::unique_ptr<Policy> policy(const Checkpoint& checkpoint, const std::string& where,
                                         const Settings& settings) const = 0;
  virtual Policy::Info info(const Checkpoint& checkpoint) const = 0;
};

// Of agents that come with a file here; those of one class are found by learned_agent() alone.
using LearnedRegistry = Registry<LearnedAgent>;

// Throws InputError where nothing has the name.
std::unique_ptr<LearnedAgent> learned_agent(const std::string& name);

// The settings that a checkpoint keeps as its task, all but the name. Throws InputError where one
// is no text.
Settings task_settings(const nlohmann::ordered_json& task);

// The policy of a checkpoint's agent. Throws as its policy() does.
std::unique_ptr<Policy> policy_of(const Checkpoint& checkpoint, const std::string& where,
                                  const Settings& settings = {});

// What it was trained to score with. Throws InputError naming `where` when there is no such
// network, or when the weights are not its.
std::unique_ptr<NativeNetwork> network_of(const Checkpoint& checkpoint, const std::string& where);

// Thrown by decide() when the network's output is not finite.
class NonFinite : public std::runtime_error {
 public:
  NonFinite() : std::runtime_error("the network's output is not finite") {}
};

// Reads the numbers of a task's JSON. Throws InputError naming them.
class TaskReader {
 public:
  explicit TaskReader(const nlohmann::ordered_json& json) : json_(json) {}

  template <class T>
  T number(const char* name, T least, T most) const {
    const auto value = json_.at(name).get<T>();
    if (value >= least && value <= most) return value;
    throw InputError(std::string("task.") + name,
                     "in [" + shortest(least) + ", " + shortest(most) + "]", json_.at(name).dump());
  }

 private:
  const nlohmann::ordered_json& json_;
};

}  // namespace yard
