// Base class of agents. At a decision an agent lists actions, describes them as features, and
// applies the chosen action; this repeats until the agent lists none. A class registers itself in
// AgentRegistry from one file (see sched2.cc), and all programs find it by name.
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
  std::string meaning;  // with its unit: "log2 of its GPUs, over 4"
};

struct Action {
  static constexpr int32_t kNoOp = -1;  // kind of the no-op

  int32_t slot = kNone;         // job which it concerns
  int32_t kind = 0, index = 0;  // for the agent's own use, from actions() to apply()
  float prior = 0;              // logit to which a network adds its score
  bool legal = true;            // false: described, but cannot be chosen
  bool explore = false;         // tried by exploration, see ExploreConfig

  bool is_noop() const { return kind == kNoOp; }
};

// The actions of one step. Besides them there is the no-op, whose meaning is the agent's: it ends
// the decision, or keeps a job as it is.
struct ActionList {
  std::vector<Action> actions;
  int32_t expert = kNone;  // index of the action which the expert takes; kNone: the no-op
  bool noop_legal = true;
  float noop_prior = 0;
  // Whether the caller reads the priors, and the marks for exploration. Others may stay unset.
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
  // Sets every prior: 0 for the expert's action, -gap for the others.
  void prefer_expert(double gap);
};

// What an agent remembers: one flat block, zero at first. A copy of the block continues as the
// original does.
class AgentMemory {
 public:
  explicit AgentMemory(std::byte* data) : data_(data) {}
  AgentMemory(const AgentMemory&) = delete;

  std::byte* data() const { return data_; }

  // Working data of the current decision which actions(), describe_actions() and apply() share. Not
  // part of a copy: null when a decision begins or is resumed from the block.
  std::shared_ptr<void> cache;

 private:
  std::byte* data_;
};

// Agents are used by several threads, each with memories of its own.
class Agent {
 public:
  static constexpr const char* kKind = "agent";
  struct Info {
    std::string about = {}, source = {}, fidelity = {};
    Level level = Level::kBlind;
    bool servable = true;       // false: needs data that no live cluster provides
    bool preemptive = false;    // may preempt running jobs, with some settings
    bool resizes_jobs = false;  // chooses the sizes of elastic jobs
    // Optional fields of snapshots that it cannot do without, such as "job.model".
    std::vector<std::string> snapshot_fields = {};
    // Boolean settings which a site may switch off for a trained checkpoint, such as `preempt`.
    std::vector<std::string> permissions = {};
    std::vector<Field> (*settings)() = describe<NoConfig>;
  };
  // A policy of the registry with its settings.
  struct PolicyWithSettings {
    std::string policy;
    Settings settings;
  };

  virtual ~Agent() = default;

  // The features of an observation and the largest number of actions in it. They are the same for
  // all instances of a class, whatever their settings; a network fits only these.
  virtual int32_t max_actions() const = 0;
  virtual std::vector<Feature> action_features() const = 0;
  virtual std::vector<Feature> state_features() const = 0;
  // Increases when a feature changes its meaning, but not its name.
  virtual int feature_version() const { return 1; }

  virtual Level level() const { return Level::kBlind; }
  // All its settings. Agents with equal settings behave identically.
  virtual std::vector<std::pair<std::string, std::string>> settings() const { return {}; }
  // The policy which an untrained network equals, and with which training compares results.
  virtual PolicyWithSettings expert() const = 0;
  // Whether it may preempt with these settings.
  virtual bool preempts() const { return false; }
  // Temperature at which decisions are sampled from the network's logits; 0: the best action.
  virtual double temperature() const { return 0; }

  // Bytes of its memory.
  virtual size_t memory_bytes(const View&) const { return 0; }
  // Processes what has changed. Called once in each decision, before all else.
  virtual void on_events(const View&, AgentMemory&) const {}
  // Begins a decision, or repeats one whose draft was undone.
  virtual void begin_decision(const View&, AgentMemory&) const {}
  // Lists the actions after those applied so far, at least one of them legal, or none: then the
  // decision is complete. `out` is clear.
  virtual void actions(const View& view, AgentMemory& memory, ActionList& out) const = 0;
  // Writes the features of all actions (A, F), by default one by one.
  virtual void describe_actions(const View& view, AgentMemory& memory, const ActionList& list,
                                float* out) const;
  // Writes the features of one action (F), which are zero before. describe_actions() calls it by
  // default.
  virtual void features(const View& view, AgentMemory& memory, const Action& action,
                        float* out) const;
  // Writes the features of the state (C). Called after describe_actions() of the same list.
  virtual void describe_state(const View& view, AgentMemory& memory, const ActionList& list,
                              float* out) const = 0;
  // Applies a legal action of the last list, or the no-op.
  virtual void apply(const View& view, AgentMemory& memory, const Action& action,
                     Draft& draft) const = 0;
  // Ends the decision, e.g. sets a timer. Called even if no action was listed.
  virtual void commit(const View&, AgentMemory&, Draft&) const {}

  // Returns the cumulative reward; a step's reward is its growth. job_s: jobs in the system,
  // integrated over time from the beginning of the step [s], which must enter linearly. The default
  // is minus that, which sums to minus the total JCT.
  virtual double cumulative_reward(const View&, const AgentMemory&, double job_s) const {
    return -job_s;
  }

  // Distinguishes the samples of one decision: mixed into the seed besides the time.
  virtual std::vector<uint64_t> sample_key(const View&, const AgentMemory&, int step) const {
    return {static_cast<uint64_t>(step)};
  }

  // The shape of observations, and one text which names all features.
  ObservationShape shape() const;
  std::string feature_schema(const std::string& name) const;

  // Writes the observation of a list. Requires: needs of the list as in actions().
  void observe(const View& view, AgentMemory& memory, const ActionList& list,
               const ObservationShape& shape, Observation& out) const;

 protected:
  // Logarithms as features. scaled_log2_seconds() maps seconds to about -1.5 to 1.
  static float log2_of(double x) { return static_cast<float>(log2_coarse(x)); }
  static float scaled_log2_seconds(double seconds) {
    return (log2_of(std::max(seconds, 1.0)) - 12) / 8;
  }
};

// Returns the features at `out` as a struct of floats, all set to zero, and moves `out` behind
// them.
template <class Row>
Row& next_features(float*& out) {
  Row* row = new (out) Row{};
  out += sizeof(Row) / sizeof(float);
  return *row;
}

// An agent with the settings `Config`.
template <class Config>
class ConfiguredAgent : public Agent {
 public:
  explicit ConfiguredAgent(const Settings& settings) : config_(parse<Config>(settings)) {}
  explicit ConfiguredAgent(const Config& config) : config_(config) {}
  std::vector<std::pair<std::string, std::string>> settings() const final {
    return record(config_);
  }

 protected:
  Config config_;
};

// Returns the policy `name` with the settings of `config`.
template <class Config>
Agent::PolicyWithSettings policy_with_settings(const std::string& name, const Config& config) {
  Agent::PolicyWithSettings out{name, {}};
  for (const auto& [key, value] : record(config)) out.settings.set(key, value, "training");
  return out;
}

using AgentRegistry = Registry<Agent>;

// Returns the agent `name`. Throws InputError if there is none or a setting is invalid.
inline std::unique_ptr<Agent> make_agent(const std::string& name, const Settings& settings) {
  return AgentRegistry::make(name, settings);
}
// Throws InputError if there is no such agent.
inline const Agent::Info& agent_info(const std::string& name) { return AgentRegistry::info(name); }

}  // namespace yard
