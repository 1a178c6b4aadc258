#include "policies/learned/learned_policy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/base/core/rng.h"
#include "policies/decision_trace.h"
#include "policies/learned/golden.h"
#include "policies/learned/untrained.h"

namespace yard {
namespace {

constexpr uint64_t kSampleSeed = 0x70696C6F74;

// Returns exp(logit / temperature) of legal actions, up to a common factor, and 0 of others.
std::vector<double> weights_of(std::span<const float> logits, double temperature) {
  const float largest = *std::ranges::max_element(logits);
  std::vector<double> out;
  for (const float logit : logits) {
    out.push_back(logit <= kMaskedLogit / 2
                      ? 0
                      : std::exp(static_cast<double>(logit - largest) / temperature));
  }
  return out;
}

double sum_of(const std::vector<double>& weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

class LearnedPolicy final : public TracedPolicy {
 public:
  LearnedPolicy(std::unique_ptr<Agent> agent, const Checkpoint& checkpoint,
                const std::string& where)
      : agent_(std::move(agent)), shape_(agent_->shape()) {
    if (checkpoint.network != kNoNetwork) net_ = network_of(checkpoint, where);
  }

  InformationLevel level() const override { return agent_->level(); }

  size_t memory_bytes(const View& view) const override { return agent_->memory_bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    choose(view, memory, draft, nullptr);
  }

  void decide_traced(const View& view, Memory& memory, Draft& draft,
                     DecisionTrace& trace) const override {
    if (net_ && agent_->temperature() > 0) {
      trace.sample_key = static_cast<uint64_t>(view.now_us());
    }
    choose(view, memory, draft, &trace);
  }

  std::vector<std::string> feature_names() const override {
    std::vector<std::string> out;
    for (const Feature& feature : agent_->action_features()) out.push_back(feature.name);
    return out;
  }

 private:
  // The observation and its logits.
  struct Buffers : GoldenState {
    explicit Buffers(const ObservationShape& shape) {
      slots.resize(static_cast<size_t>(shape.rows));
      jobs.resize(slots.size() * static_cast<size_t>(shape.row_features));
      cluster.resize(static_cast<size_t>(shape.cluster_features));
      mask.resize(static_cast<size_t>(shape.actions()));
      prior.resize(mask.size());
      logits.resize(mask.size());
      seen = observation();
    }
    Buffers(const Buffers&) = delete;

    Observation seen;
  };

  void choose(const View& view, Memory& memory, Draft& draft, DecisionTrace* trace) const {
    AgentMemory own(memory.data());
    agent_->on_events(view, own);
    agent_->begin_decision(view, own);
    ActionList list;
    list.needs_prior = net_ != nullptr;
    std::optional<Buffers> buffers;
    for (int step = 0;; ++step) {
      list.clear();
      agent_->actions(view, own, list);
      if (list.empty()) break;
      int32_t pick = list.expert == kNone ? list.size() : list.expert;
      if (net_) {
        if (!buffers) buffers.emplace(shape_);
        agent_->observe(view, own, list, shape_, buffers->seen);
        pick = pick_of(view, own, step, *buffers);
        if (trace != nullptr)
          trace->steps.push_back(traced_step(*buffers, pick, trace->with_features));
      }
      agent_->apply(view, own, list.at(pick), draft);
    }
    agent_->commit(view, own, draft);
  }

  int32_t pick_of(const View& view, const AgentMemory& memory, int step, Buffers& b) const {
    net_->forward(b.seen, b.logits);
    if (!std::ranges::all_of(b.logits, [](float v) { return std::isfinite(v); })) {
      throw NonFinite();
    }
    if (agent_->temperature() > 0) return sample(view, memory, step, b.logits);
    return static_cast<int32_t>(std::ranges::max_element(b.logits) - b.logits.begin());
  }

  // Samples from the tempered distribution. The same request has the same answer.
  int32_t sample(const View& view, const AgentMemory& memory, int step,
                 const std::vector<float>& logits) const {
    Rng rng = Rng(kSampleSeed).split(static_cast<uint64_t>(view.now_us()));
    for (const uint64_t key : agent_->sampling_rng_keys(view, memory, step)) rng = rng.split(key);
    const std::vector<double> weights = weights_of(logits, agent_->temperature());
    double left = rng.uniform() * sum_of(weights);
    int32_t last = shape_.rows;
    for (size_t a = 0; a < weights.size(); ++a) {
      if (weights[a] == 0) continue;
      last = static_cast<int32_t>(a);
      left -= weights[a];
      if (left < 0) break;
    }
    return last;
  }

  DecisionStep traced_step(const Buffers& b, int32_t pick, bool with_features) const {
    DecisionStep step;
    for (int32_t a = 0; a < shape_.actions(); ++a) {
      const auto i = static_cast<size_t>(a);
      if (b.mask[i] == 0) continue;
      if (a == pick) step.chosen = static_cast<int32_t>(step.options.size());
      ScoredOption& option =
          step.options.emplace_back(a == shape_.rows ? kNone : b.slots[i], b.logits[i]);
      if (!with_features || a == shape_.rows) continue;
      const auto row = b.jobs.begin() + a * shape_.row_features;
      option.features.assign(row, row + shape_.row_features);
    }
    if (agent_->temperature() > 0) {
      const std::vector<double> weights = weights_of(b.logits, agent_->temperature());
      step.probability = weights[static_cast<size_t>(pick)] / sum_of(weights);
    }
    return step;
  }

  std::unique_ptr<Agent> agent_;
  ObservationShape shape_;
  std::unique_ptr<NativeNetwork> net_;  // null: the expert decides
};

// Reads the settings in a checkpoint's task. Throws InputError if a value is not a string.
Settings task_settings(const nlohmann::ordered_json& task, const std::string& where) {
  if (!task.is_object()) throw InputError(where + ": task", "an object", task.dump());
  Settings out;
  for (const auto& [key, value] : task.items()) {
    if (key == "name") continue;
    if (!value.is_string()) throw InputError(where + ": task." + key, "a text", value.dump());
    out.set(key, value.get<std::string>(), where + ": task");
  }
  return out;
}

// Switches off what a site does not permit.
void apply_permissions(const std::string& agent, const Settings& site, Settings& task) {
  const Agent::Info& info = AgentRegistry::info(agent);
  for (const GivenSetting& given : site.entries()) {
    if (!may_site_switch_off(agent, given.key)) {
      throw InputError(
          given.origin,
          info.permissions.empty()
              ? "no setting: a checkpoint of the agent '" + agent + "' has its own"
              : "a setting that a checkpoint can be restricted by: " + join(info.permissions),
          "'" + given.key + "'");
    }
    Settings one;
    one.set(given.key, given.value, given.origin);
    make_agent(agent, one);  // throws if the value is not one of the setting
    if (given.value == "false") task.set(given.key, given.value, given.origin);
  }
}

}  // namespace

bool may_site_switch_off(const std::string& agent, const std::string& key) {
  const std::vector<std::string>& all = agent_info(agent).permissions;
  return std::ranges::find(all, key) != all.end();
}

nlohmann::ordered_json agent_settings_json(const std::string& name, const Agent& agent) {
  nlohmann::ordered_json out = {{"name", name}};
  for (const auto& [key, value] : agent.settings()) out[key] = value;
  return out;
}

std::unique_ptr<Agent> agent_of(const Checkpoint& checkpoint) {
  return make_agent(checkpoint.agent, task_settings(checkpoint.task, checkpoint.agent));
}

Checkpoint expert_checkpoint(const std::string& agent, const Settings& settings) {
  Checkpoint out;
  out.agent = agent;
  out.network = kNoNetwork;
  out.task = agent_settings_json(agent, *make_agent(agent, settings));
  return out;
}

std::unique_ptr<Policy> policy_of(const Checkpoint& checkpoint, const std::string& where,
                                  const Settings& settings) {
  Settings task = task_settings(checkpoint.task, where);
  apply_permissions(checkpoint.agent, settings, task);
  return std::make_unique<LearnedPolicy>(make_agent(checkpoint.agent, task), checkpoint, where);
}

std::unique_ptr<Policy> expert_policy(const Agent& agent) {
  const Agent::PolicyWithSettings expert = agent.expert();
  return PolicyRegistry::make(expert.policy, expert.settings);
}

Policy::Info policy_info(const Checkpoint& checkpoint) {
  const Agent::Info& info = agent_info(checkpoint.agent);
  return {.about = info.about,
          .source = info.source,
          .fidelity = info.fidelity,
          .level = info.level,
          .servable = info.servable,
          .preemptive = agent_of(checkpoint)->preempts(),
          .resizes_jobs = info.resizes_jobs,
          .snapshot_fields = info.snapshot_fields,
          .fields = [&info, agent = checkpoint.agent] {
            std::vector<Field> fields = info.settings();
            std::erase_if(fields,
                          [&](const Field& f) { return !may_site_switch_off(agent, f.key); });
            return fields;
          }};
}

std::unique_ptr<NativeNetwork> network_of(const Checkpoint& checkpoint, const std::string& where) {
  const ObservationShape shape = make_agent(checkpoint.agent, {})->shape();
  if (checkpoint.network == kUntrainedNetwork) return untrained_network(shape);
  if (!NativeNetworkRegistry::has(checkpoint.network)) {
    throw InputError(where, "one of the networks " + join(NativeNetworkRegistry::names()),
                     checkpoint.network);
  }
  return NativeNetworkRegistry::make(checkpoint.network, {checkpoint.weights, shape, where});
}

}  // namespace yard
