// Decision problems with a known answer: a few states and a table of what each action does in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "agents/train/collector.h"
#include "agents/train/minibatch_optimizer.h"

namespace yard::testing {

// The effect of an action: the next state (kEnd ends the episode), the reward, the duration.
struct Transition {
  static constexpr int kEnd = -1;
  int next;
  double reward, dt_s;
};

// Every world begins in state 0. Rows are actions, distinguished by one-hot features. The no-op is
// illegal.
struct Table {
  std::vector<std::vector<Transition>> transitions;             // [state][action]
  std::function<int(int state, Rng&)> expert_action = nullptr;  // nullptr: the first action
  std::vector<double> prior = {};                               // (actions) logits; empty: zeros
  int max_decisions = 0;                                        // truncates an episode; 0: never
  std::vector<int> exploration_mask = {};  // actions to explore, in every state
};

class TableWorlds final : public VectorEnv {
 public:
  TableWorlds(const Table& table, const VectorEnvOptions& options)
      : TableWorlds(std::vector<Table>{table}, options) {}
  // Several env_specs, all with the same numbers of states and actions.
  TableWorlds(std::vector<Table> env_specs, const VectorEnvOptions& options)
      : env_specs_(std::move(env_specs)),
        options_(options),
        worlds_(static_cast<size_t>(options.worlds)) {
    const ObservationShape s = shape();
    const auto n = worlds_.size();
    jobs_.resize(n * static_cast<size_t>(s.rows * s.row_features));
    cluster_.resize(n * static_cast<size_t>(s.cluster_features));
    final_jobs_.resize(jobs_.size());
    final_cluster_.resize(cluster_.size());
    mask_.resize(n * static_cast<size_t>(s.actions()));
    prior_.resize(mask_.size());
    if (options.exploration_mask) exploration_mask_.resize(mask_.size());
    rows_.assign(n, s.rows);
    for (auto* column : {&reward_, &dt_s_}) column->resize(n);
    expert_action_.resize(n);
    ending_.resize(n);
  }

  ObservationShape shape() const override {
    const auto states = static_cast<int32_t>(env_specs_[0].transitions.size());
    const auto actions = static_cast<int32_t>(env_specs_[0].transitions[0].size());
    return {actions, states * actions, states};
  }
  int count() const override { return options_.worlds; }
  Observations observations() const override {
    return {jobs_, cluster_, mask_,       prior_,         rows_, expert_action_,   reward_,
            dt_s_, ending_,  final_jobs_, final_cluster_, rows_, exploration_mask_};
  }

  void reset() override { begin_next_episodes(); }
  void begin_next_episodes() override {
    for (size_t n = 0; n < worlds_.size(); ++n) begin(n);
  }
  int num_env_specs() const override { return static_cast<int>(env_specs_.size()); }
  void select_env_spec(int env_spec) override { selected_env_spec_ = env_spec; }
  bool is_done(int world) const override {
    return worlds_[static_cast<size_t>(world)].is_done != 0;
  }
  double elapsed_s(int world) const override {
    return worlds_[static_cast<size_t>(world)].elapsed_s;
  }

  void step(std::span<const int32_t> actions) override {
    for (size_t n = 0; n < worlds_.size(); ++n) {
      World& w = worlds_[n];
      ending_[n] = Ending::kNone;
      reward_[n] = dt_s_[n] = 0;
      if (w.is_done != 0) continue;
      const Table& table = env_specs_[static_cast<size_t>(w.env_spec)];
      const Transition& move =
          table.transitions[static_cast<size_t>(w.state)][static_cast<size_t>(actions[n])];
      reward_[n] = static_cast<float>(move.reward);
      dt_s_[n] = static_cast<float>(move.dt_s);
      w.elapsed_s += move.dt_s;
      ++w.decisions;
      const bool ends = move.next == Transition::kEnd;
      const bool truncated = !ends && table.max_decisions > 0 && w.decisions >= table.max_decisions;
      if (!ends) w.state = move.next;
      write_observation(n);
      if (truncated) copy_final(n);
      if (!ends && !truncated) continue;
      ending_[n] = truncated ? Ending::kTruncated : Ending::kTerminated;
      jcts_.push_back(w.elapsed_s);
      if (options_.wait_at_end) {
        w.is_done = 1;
      } else {
        begin(n);
      }
    }
  }

  std::vector<double> take_mean_jcts_s() override { return std::exchange(jcts_, {}); }

  std::string save() const override {
    std::string out(reinterpret_cast<const char*>(&selected_env_spec_), sizeof selected_env_spec_);
    out.append(reinterpret_cast<const char*>(worlds_.data()), worlds_.size() * sizeof(World));
    return out;
  }
  void restore(std::string_view saved) override {
    std::memcpy(&selected_env_spec_, saved.data(), sizeof selected_env_spec_);
    std::memcpy(worlds_.data(), saved.data() + sizeof selected_env_spec_,
                saved.size() - sizeof selected_env_spec_);
    for (size_t n = 0; n < worlds_.size(); ++n) write_observation(n);
  }

 private:
  struct World {
    int64_t state = 0, decisions = 0, is_done = 0, num_observations = 0, env_spec = 0;
    double elapsed_s = 0;
  };

  void begin(size_t n) {
    const int64_t num_observations = worlds_[n].num_observations;
    const auto drawn_spec = world_rng(n)
                                .split(static_cast<uint64_t>(num_observations))
                                .below(static_cast<uint32_t>(env_specs_.size()));
    worlds_[n] = {.num_observations = num_observations,
                  .env_spec = selected_env_spec_ >= 0 ? selected_env_spec_ : drawn_spec};
    write_observation(n);
  }

  Rng world_rng(size_t n) const {
    return Rng{options_.seed}.split(static_cast<uint64_t>(options_.first_world) + n);
  }

  void write_observation(size_t n) {
    World& w = worlds_[n];
    const Table& table = env_specs_[static_cast<size_t>(w.env_spec)];
    const ObservationShape s = shape();
    const auto rows = static_cast<size_t>(s.rows), f = static_cast<size_t>(s.row_features),
               c = static_cast<size_t>(s.cluster_features), state = static_cast<size_t>(w.state);
    std::fill_n(jobs_.begin() + static_cast<int64_t>(n * rows * f), rows * f, 0.0F);
    std::fill_n(cluster_.begin() + static_cast<int64_t>(n * c), c, 0.0F);
    for (size_t r = 0; r < rows; ++r) jobs_[(n * rows + r) * f + state * rows + r] = 1;
    cluster_[n * c + state] = 1;
    for (size_t a = 0; a <= rows; ++a) {
      mask_[n * (rows + 1) + a] = a < rows;
      const double logit = table.prior.empty() ? 0 : table.prior[std::min(a, rows - 1)];
      prior_[n * (rows + 1) + a] = a < rows ? static_cast<float>(logit) : -1e9F;
    }
    for (const int a : table.exploration_mask) {
      if (options_.exploration_mask) exploration_mask_[n * (rows + 1) + static_cast<size_t>(a)] = 1;
    }
    Rng rng = world_rng(n).split(static_cast<uint64_t>(w.num_observations++));
    expert_action_[n] =
        table.expert_action ? table.expert_action(static_cast<int>(w.state), rng) : 0;
  }

  void copy_final(size_t n) {
    const auto copy = [n](const std::vector<float>& from, std::vector<float>& to, size_t width) {
      std::copy_n(from.begin() + static_cast<int64_t>(n * width), width,
                  to.begin() + static_cast<int64_t>(n * width));
    };
    const ObservationShape s = shape();
    copy(jobs_, final_jobs_, static_cast<size_t>(s.rows * s.row_features));
    copy(cluster_, final_cluster_, static_cast<size_t>(s.cluster_features));
  }

  std::vector<Table> env_specs_;
  int64_t selected_env_spec_ = -1;  // the selected env_spec; -1: random in each episode
  VectorEnvOptions options_;
  std::vector<World> worlds_;
  std::vector<float> jobs_, cluster_, final_jobs_, final_cluster_, prior_, reward_, dt_s_;
  std::vector<uint8_t> mask_, exploration_mask_;
  std::vector<int32_t> rows_, expert_action_;
  std::vector<Ending> ending_;
  std::vector<double> jcts_;
};

inline Settings settings_of(const std::vector<std::string>& assignments) {
  Settings out;
  for (const std::string& assignment : assignments) out.overlay(assignment, "test");
  return out;
}

// Trains a learner on a table: the trainer's loop without validation, saving and callbacks.
class TableTraining {
 public:
  TableTraining(const Table& table, const std::string& learner,
                const std::vector<std::string>& settings, VectorEnvOptions options,
                const OptimizerConfig& optimizer_config, double horizon_s,
                const std::string& network = "job-scorer")
      : learner_(LearnerRegistry::make(learner, settings_of(settings))),
        options_(with_requirements(options)),
        worlds_(table, options_),
        network_(make_network(network,
                              network == "kernel" ? Settings() : settings_of({"hidden=16"}),
                              worlds_.shape(), 3)),
        target_network_(make_network(network,
                                     network == "kernel" ? Settings() : settings_of({"hidden=16"}),
                                     worlds_.shape(), 3)),
        minibatch_optimizer_(*network_, optimizer_config, threads_, *ranks_),
        collector_(worlds_, *network_, *learner_,
                   {.group = options_.group, .all_worlds = options_.worlds}, threads_, profile_),
        horizon_s_(horizon_s) {
    worlds_.reset();
  }

  void learn(int updates) {
    for (int u = 0; u < updates; ++u, ++update_) {
      collector_.trim_to_replay_buffer();
      collector_.collect(update_, nullptr);
      std::vector<float> last;
      if (learner_->requirements().critic) last = collector_.current_values();
      const Rng rng = Rng{9}.split(static_cast<uint64_t>(update_));
      const Returns returns = learner_->compute_advantages(
          {collector_.rollout(), last, options_.worlds, options_.group, horizon_s_, 1, *ranks_,
           *network_, *target_network_, threads_, rng.split(0)});
      const UpdateStats stats = minibatch_optimizer_.update(
          *learner_, collector_.rollout(), returns,
          returns.drawn.empty() ? collector_.samples_to_learn() : returns.drawn,
          static_cast<double>(u) / updates, rng);
      YARD_CHECK(stats.non_finite.empty(), stats.non_finite);
      torch::NoGradGuard no_grad;
      auto mean = target_network_->parameters();
      const auto now = network_->parameters();
      for (size_t i = 0; i < mean.size(); ++i) mean[i].lerp_(now[i], 0.5);
    }
  }

  // Action probabilities (A) in a state, from an observation that is built here.
  std::vector<double> probabilities(int state) {
    torch::NoGradGuard no_grad;
    const auto p = torch::softmax(network_->logits(batch_of(state)), 0).to(torch::kFloat64);
    const auto flat = p.contiguous();
    return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
  }
  // Action values of a Q-network: V + l - max l, with logits l.
  std::vector<double> action_values(int state) {
    std::vector<double> out = probabilities(state);
    const double best = std::log(*std::max_element(out.begin(), out.end()));
    for (double& x : out) x = value(state) + std::log(x) - best;
    return out;
  }
  double value(int state) {
    torch::NoGradGuard no_grad;
    return network_->value(batch_of(state)).item<double>();
  }

  Learner& learner() { return *learner_; }
  Collector& collector() { return collector_; }

 private:
  VectorEnvOptions with_requirements(VectorEnvOptions options) const {
    options.wait_at_end = learner_->requirements().steps == 0;
    options.exploration_mask = learner_->requirements().explore > 0;
    return options;
  }

  RaggedBatch batch_of(int state) const {
    const ObservationShape s = worlds_.shape();
    RaggedBatch b;
    b.jobs = torch::zeros({s.rows, s.row_features});
    for (int64_t r = 0; r < s.rows; ++r) b.jobs[r][state * s.rows + r] = 1;
    b.offset = torch::tensor({int64_t{0}, int64_t{s.rows}});
    b.count = torch::full({1, 1}, static_cast<float>(s.rows));
    b.cluster = torch::zeros({1, s.cluster_features});
    b.cluster[0][state] = 1;
    b.prior =
        torch::from_blob(const_cast<float*>(worlds_.observations().prior.data()), {s.actions()})
            .clone();
    return b;
  }

  std::unique_ptr<Communicator> ranks_ = single_process_communicator();
  std::unique_ptr<Learner> learner_;
  VectorEnvOptions options_;
  TableWorlds worlds_;
  std::unique_ptr<Network> network_, target_network_;
  ThreadPool threads_{1};
  MinibatchOptimizer minibatch_optimizer_;
  StageTimer profile_;
  Collector collector_;
  double horizon_s_;
  int update_ = 0;
};

}  // namespace yard::testing
