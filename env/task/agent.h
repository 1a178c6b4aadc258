// Base class of agents. At a decision, an agent lists actions, describes them as features and
// applies the chosen action, again and again until it lists none. A class of agents registers
// itself in AgentRegistry from one file (see sched2.cc), and all programs find it by its name.
// Dims: A actions listed, J most actions, F features per action, C features of the state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "env/base/config/registry.h"
#include "env/base/core/log2.h"
#include "env/sim/view/plan.h"
#include "env/sim/view/view.h"
#include "env/task/observation.h"

namespace yard {

// One number of an observation. Features are scaled to about -2 to 2.
struct Feature {
  std::string name;     // "gpus"
  std::string meaning;  // meaning with its unit: "log2 of its GPUs, over 4"
};

struct Action {
  static constexpr int32_t kNoOp = -1;  // value of `kind` for the no-op

  int32_t slot = kNone;         // slot of the job that the action concerns
  int32_t kind = 0, index = 0;  // the agent's own numbers, from actions() to apply()
  float prior = 0;              // logit to which a network adds its score
  bool legal = true;            // false: the action is described, but cannot be chosen
  bool explore = false;         // exploration tries the action, see JobAwareExplorationConfig

  bool is_noop() const { return kind == kNoOp; }
};

// The actions among which an agent chooses in one step. There is also the no-op, which ends the
// decision or keeps a job as it is, depending on the agent.
struct ActionList {
  std::vector<Action> actions;
  int32_t expert = kNone;  // index of the expert's action; kNone: the no-op
  bool noop_legal = true;
  float noop_prior = 0;
  // Whether the caller reads priors, and marks for exploration. Unread values may stay unset.
  bool needs_prior = true, needs_exploration = false;

  void clear() {
    actions.clear();
    expert = kNone;
    noop_legal = true;
    noop_prior = 0;
  }
  bool empty() const { return actions.empty(); }
  int32_t size() const { return static_cast<int32_t>(actions.size()); }
  // Returns the action with this index, or the no-op for any index from size() on.
  Action at(int32_t index) const;
  // Sets every prior: 0 for the expert's action, -gap for all other actions.
  void set_priors_for_expert(double gap);
};

// What an agent remembers between decisions: one flat block of bytes, zero at first. An agent with
// a copy of the block behaves like the original agent.
class AgentMemory {
 public:
  explicit AgentMemory(std::byte* data) : data_(data) {}
  AgentMemory(const AgentMemory&) = delete;

  std::byte* data() const { return data_; }

  // Working data of the current decision, which actions(), describe_actions() and apply() share. A
  // copy of the memory lacks the cache, which is null when a decision begins or is resumed from the
  // block.
  std::shared_ptr<void> cache;

 private:
  std::byte* data_;
};

// An agent. Several threads may use one agent, each with its own AgentMemory.
class Agent {
 public:
  static constexpr const char* kKind = "agent";
  struct Info {
    std::string about = {}, source = {}, fidelity = {};
    InformationLevel level = InformationLevel::kBlind;
    bool servable = true;       // false: the agent needs data that no live cluster provides
    bool preemptive = false;    // may preempt running jobs with some settings
    bool resizes_jobs = false;  // chooses the sizes of elastic jobs
    // Optional fields of snapshots that the agent cannot do without, such as "job.model".
    std::vector<std::string> snapshot_fields = {};
    // Boolean settings that a site may switch off for a trained checkpoint, such as `preempt`.
    std::vector<std::string> permissions = {};
    std::vector<Field> (*settings)() = describe<NoConfig>;
  };
  // A policy of the registry together with its settings.
  struct PolicyWithSettings {
    std::string policy;
    Settings settings;
  };

  virtual ~Agent() = default;

  // The largest number of actions in an observation, and the features of actions and of the state.
  // These numbers and features are the same for all settings of an agent; a trained network fits no
  // others.
  virtual int32_t max_actions() const = 0;
  virtual std::vector<Feature> action_features() const = 0;
  virtual std::vector<Feature> state_features() const = 0;
  // Increases when a feature changes its meaning, but not its name.
  virtual int feature_version() const { return 1; }

  virtual InformationLevel level() const { return InformationLevel::kBlind; }
  // Returns all settings. Agents of one class with equal settings behave identically.
  virtual std::vector<std::pair<std::string, std::string>> settings() const { return {}; }
  // Returns the policy that an untrained network equals, and with which training compares results.
  virtual PolicyWithSettings expert() const = 0;
  // Returns whether the agent may preempt jobs with its settings.
  virtual bool preempts() const { return false; }
  // Returns the temperature at which decisions are sampled from a network's logits; 0: best action.
  virtual double temperature() const { return 0; }

  // Returns the size of the agent's memory in bytes.
  virtual size_t memory_bytes(const View&) const { return 0; }
  // Processes the changes since the last decision. Called once in each decision, before all else.
  virtual void on_events(const View&, AgentMemory&) const {}
  // Begins a decision, or repeats a decision whose draft was undone.
  virtual void begin_decision(const View&, AgentMemory&) const {}
  // Adds to `out`, which is empty, the actions that may follow the actions applied so far: at least
  // one legal action, or none if the decision is complete.
  virtual void actions(const View& view, AgentMemory& memory, ActionList& out) const = 0;
  // Writes the features of all actions (A, F). The default calls features() for each action.
  virtual void describe_actions(const View& view, AgentMemory& memory, const ActionList& list,
                                float* out) const;
  // Writes the features of one action (F) to `out`, which holds zeros. Called by the default
  // describe_actions().
  virtual void features(const View& view, AgentMemory& memory, const Action& action,
                        float* out) const;
  // Writes the features of the state (C). Called after describe_actions() of the same list.
  virtual void describe_state(const View& view, AgentMemory& memory, const ActionList& list,
                              float* out) const = 0;
  // Applies a legal action of the last list of actions, or the no-op.
  virtual void apply(const View& view, AgentMemory& memory, const Action& action,
                     Draft& draft) const = 0;
  // Ends the decision, e.g. sets a timer. Called even if no action was listed.
  virtual void commit(const View&, AgentMemory&, Draft&) const {}

  // Returns the cumulative reward, whose growth is the reward of a step. `job_s` is the number of
  // jobs in the system, integrated over seconds since the step began; the result must be linear in
  // job_s. The default is -job_s, which sums to minus the total JCT.
  virtual double cumulative_reward(const View&, const AgentMemory&, double job_s) const {
    return -job_s;
  }

  // Returns numbers that make the random seed of each sample within a decision different.
  virtual std::vector<uint64_t> sampling_rng_keys(const View&, const AgentMemory&, int step) const {
    return {static_cast<uint64_t>(step)};
  }

  // Returns the shape of observations; feature_schema() returns one text that names all features.
  ObservationShape shape() const;
  std::string feature_schema(const std::string& name) const;

  // Writes the observation of a list. Requires: needs_prior and needs_exploration of `list` are as
  // they were in actions().
  void observe(const View& view, AgentMemory& memory, const ActionList& list,
               const ObservationShape& shape, Observation& out) const;

 protected:
  // Logarithms as features. scaled_log2_seconds() maps seconds to about -1.5 to 1.
  static float log2_of(double x) { return static_cast<float>(log2_coarse(x)); }
  static float scaled_log2_seconds(double seconds) {
    return (log2_of(std::max(seconds, 1.0)) - 12) / 8;
  }
};

// Returns the features at `out` as a struct of floats, all set to zero, and moves `out` to the end
// of the struct.
template <class Row>
Row& append_feature_row(float*& out) {
  Row* row = new (out) Row{};
  out += sizeof(Row) / sizeof(float);
  return *row;
}

// Base class of an agent with the settings `Config`.
template <class Config>
class ConfiguredAgent : public Agent {
 public:
  explicit ConfiguredAgent(const Settings& settings) : config_(parse<Config>(settings)) {}
  explicit ConfiguredAgent(const Config& config) : config_(config) {}
  std::vector<std::pair<std::string, std::string>> settings() const final {
    return keys_and_values(config_);
  }

 protected:
  Config config_;
};

// Returns the policy `name` with the settings of `config`.
template <class Config>
Agent::PolicyWithSettings policy_with_settings(const std::string& name, const Config& config) {
  Agent::PolicyWithSettings out{name, {}};
  for (const auto& [key, value] : keys_and_values(config)) out.settings.set(key, value, "training");
  return out;
}

using AgentRegistry = Registry<Agent>;

// Returns the agent `name`. Throws InputError if there is no such agent or a setting is invalid.
inline std::unique_ptr<Agent> make_agent(const std::string& name, const Settings& settings) {
  return AgentRegistry::make(name, settings);
}
// Returns the description of the agent `name`. Throws InputError if there is no such agent.
inline const Agent::Info& agent_info(const std::string& name) { return AgentRegistry::info(name); }

}  // namespace yard
