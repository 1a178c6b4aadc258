#include "experiments/train/training_setup.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "agents/train/registered.h"
#include "agents/train/trainable_agent.h"
#include "env/base/core/error.h"
#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"
#include "env/task/select_info.h"
#include "experiments/train/log_folder.h"
#include "policies/learned/learned_policy.h"

namespace yard {
namespace {

using AgentSetting = std::pair<std::string, std::string>;

std::vector<Field> settings_of(const char* kind, const std::vector<RegisteredInfo>& all,
                               const std::string& name) {
  std::vector<std::string> names;
  for (const RegisteredInfo& one : all) {
    if (one.name == name) return one.settings;
    names.push_back(one.name);
  }
  throw unknown_name(kind, names, name);
}

// The fields which each part declares.
struct DeclaredFields {
  std::vector<Field> data, loop, agent, learner, network;

  explicit DeclaredFields(const Settings& settings)
      : data(describe<TrainingDataConfig>()), loop(describe<TrainConfig>()) {
    const auto named = [&](const std::vector<Field>& in, const char* key) {
      const GivenSetting* given = settings.find(key);
      return given != nullptr ? given->value : std::ranges::find(in, key, &Field::key)->value;
    };
    agent = agent_info(named(data, "agent")).settings();
    learner = settings_of("learner", registered_learners(), named(loop, "learner"));
    network = settings_of("network", registered_networks(), named(loop, "network"));
  }

  std::vector<Field> all() const {
    std::vector<Field> out;
    for (const auto* part : {&data, &loop, &learner, &network, &agent}) {
      for (const Field& field : *part) {
        YARD_CHECK(std::ranges::find(out, field.key, &Field::key) == out.end(),
                   "a setting declared twice: " + field.key);
        out.push_back(field);
      }
    }
    return out;
  }
};

// Names which other libraries, or earlier versions, give to settings.
constexpr std::pair<std::string_view, const char*> kRenamed[] = {
    {"lr", "learning_rate"},
    {"worlds", "num_envs"},
    {"steps", "num_steps"},
    {"epochs", "update_epochs"},
    {"clip", "clip_coef"},
    {"minibatch", "minibatch_size"},
    {"entropy", "ent_coef"},
    {"lambda", "gae_lambda"},
    {"value_weight", "vf_coef"},
    {"teacher_kl", "expert_kl_coef"},
    {"replay", "buffer_size"},
    {"drawn", "batch_size"},
    {"epsilon", "start_e"},
    {"epsilon_end", "end_e"},
    {"epsilon_updates", "exploration_updates"},
    {"most_weight", "max_importance_weight"}};

// Settings which each cell of a file has for itself.
constexpr const char* kSingleTraceKeys[] = {"trace",   "format",     "cluster",    "from",
                                            "to",      "congestion", "generator",  "trace_jobs",
                                            "columns", "trace_seed", "cost_scale", "skip_unusable",
                                            "profiles"};

Settings of(const std::vector<Field>& fields, const Settings& settings) {
  Settings out;
  for (const GivenSetting& s : settings.entries()) {
    if (std::ranges::find(fields, s.key, &Field::key) != fields.end()) {
      out.set(s.key, s.value, s.origin);
    }
  }
  return out;
}

// Defaults for cloning another policy: as many rows as fit, and as few restrictions on preemption
// as possible, so that the task can represent as many of its actions as possible.
constexpr std::pair<const char*, const char*> kCloneDefaults[] = {
    {"held_rows", "64"},     {"waiting_rows", "128"},   {"quantum_s", "0"},
    {"gpu_exponent", "0"},   {"hidden", "64"},          {"updates", "60"},
    {"validate_every", "5"}, {"minibatch_size", "256"},
};

// Index orders which a clone may start from, and the margin in favour of running jobs for each.
constexpr std::pair<const char*, const char*> kIndices[] = {{"remaining", "1"},
                                                            {"attained", "0.5"}};

// Sets the index order with the best agreement with the log's actions. Throws InputError.
void choose_order(Settings& settings, const std::vector<Field>& agent, const std::string& log) {
  std::optional<Settings> best;
  std::string refused;
  double best_share = -1;
  for (const auto& [index, margin] : kIndices) {
    Settings trial = settings;
    trial.set("index", index, "--from-log");
    if (trial.find("margin_log2") == nullptr) trial.set("margin_log2", margin, "--from-log");
    const auto task =
        agent_settings_json("dispatcher", *make_agent("dispatcher", of(agent, trial)));
    try {
      const double share = expert_agreement_share(log, task);
      if (share <= best_share) continue;
      best_share = share;
      best = std::move(trial);
    } catch (const InputError& error) {
      if (refused.empty()) refused = error.what();
    }
  }
  if (!best) throw InputError(refused);
  settings = std::move(*best);
}

}  // namespace

void add_implied_settings(Settings& settings) {
  const auto unless_set = [&](const std::string& key, const std::string& value,
                              const std::string& origin) {
    if (settings.find(key) == nullptr) settings.set(key, value, origin);
  };
  const GivenSetting* start = settings.find("start");
  const GivenSetting* given_log = settings.find("from_log");
  const std::string log = given_log != nullptr ? given_log->value : "";
  if (start != nullptr && !start->value.empty()) {
    const std::string folder = start->value;
    const Checkpoint from = load_checkpoint(folder);
    unless_set("agent", from.agent, folder);
    unless_set("network", from.network, folder);
    const DeclaredFields parts(settings);
    const auto given = from.provenance.value("settings", nlohmann::ordered_json::object());
    for (const auto* part : {&parts.agent, &parts.network}) {
      for (const Field& field : *part) {
        if (!given.contains(field.key)) continue;
        unless_set(field.key, given.at(field.key).get<std::string>(), folder);
      }
    }
  }
  if (log.empty()) return;
  constexpr const char* kOrigin = "--from-log";
  unless_set("learner", "clone", kOrigin);
  const DeclaredFields parts(settings);
  if (settings.find("learner")->value != "clone" ||
      (settings.find("agent") != nullptr && settings.find("agent")->value != "dispatcher")) {
    return;
  }
  for (const auto& [key, value] : kCloneDefaults) unless_set(key, value, kOrigin);
  if (settings.find("index") == nullptr) choose_order(settings, parts.agent, log);
}

std::vector<Field> describe_setup(const Settings& settings) {
  return DeclaredFields(settings).all();
}

TrainingSetup read_setup(const Settings& settings, int ranks) {
  if (const GivenSetting* agent = settings.find("agent");
      agent != nullptr && agent->value == kSelectName) {
    throw InputError(agent->origin, "an agent with a network",
                     "'select', which only the C interface offers");
  }
  const DeclaredFields parts(settings);
  const std::vector<Field> all = parts.all();
  for (const GivenSetting& s : settings.entries()) {
    if (std::ranges::find(all, s.key, &Field::key) != all.end()) continue;
    for (const auto& [key, name] : kRenamed) {
      if (key != s.key) continue;
      throw InputError(s.origin + ": unknown key '" + s.key + "', which is called '" + name + "'");
    }
    std::vector<std::string> keys;
    for (const Field& field : all) keys.push_back(field.key);
    throw InputError(s.origin + ": unknown key '" + s.key +
                     "' with this agent, learner and "
                     "network, expected one of: " +
                     join(keys) + did_you_mean(s.key, keys));
  }
  if (const GivenSetting* cells = settings.find("cells");
      cells != nullptr && !cells->value.empty()) {
    for (const char* key : kSingleTraceKeys) {
      const GivenSetting* conflicting = settings.find(key);
      // A run's config.yaml also has the defaults of settings which were not given.
      const auto field = std::ranges::find(parts.data, key, &Field::key);
      if (conflicting == nullptr || conflicting->value == field->value) continue;
      throw InputError(conflicting->origin,
                       "no " + std::string(key) + " with cells, which set their own",
                       "'" + conflicting->value + "'");
    }
  }
  TrainingSetup out;
  out.data = parse<TrainingDataConfig>(of(parts.data, settings));
  out.loop = parse<TrainConfig>(of(parts.loop, settings));
  out.agent = of(parts.agent, settings);
  out.learner = of(parts.learner, settings);
  out.network = of(parts.network, settings);
  if (!out.data.from_log.empty()) {
    if (ranks > 1) throw InputError("from_log", "one rank", std::to_string(ranks));
    if (out.loop.learner == "clone" && out.data.adapt_updates > 0) {
      throw InputError("adapt_updates", "0 when cloning a decision log",
                       std::to_string(out.data.adapt_updates));
    }
    if (out.loop.learner == "clone" && out.data.agent != "dispatcher") {
      throw InputError("from_log",
                       "agent dispatcher, the only one that can represent a decision log",
                       "'" + out.data.agent + "'");
    }
  }
  const auto agent = make_agent(out.data.agent, out.agent);  // checks its settings early
  const auto agent_settings = agent->settings();
  check_training(out.loop, out.learner, out.network, ranks);
  for (const Field& field : all) {
    const GivenSetting* given = settings.find(field.key);
    // An agent's settings may come from a file which one of them names.
    const auto own = std::ranges::find(agent_settings, field.key, &AgentSetting::first);
    const bool is_own = own != agent_settings.end();
    out.resolved.emplace_back(field.key, is_own             ? own->second
                                         : given != nullptr ? given->value
                                                            : field.value);
  }
  return out;
}

std::string TrainingSetup::value(const std::string& key) const {
  const auto found = std::ranges::find(resolved, key, &AgentSetting::first);
  YARD_CHECK(found != resolved.end(), "no setting " + key);
  return found->second;
}

}  // namespace yard
