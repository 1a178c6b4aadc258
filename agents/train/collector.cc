#include "agents/train/collector.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "agents/networks/action_distribution.h"
#include "env/base/core/rng.h"
#include "env/base/os/interrupt.h"

namespace yard {
namespace {

constexpr uint64_t kActStream = 1;
constexpr size_t kGoldenStates = 64;
constexpr int64_t kRowsPerPart = 3072;  // per thread

void append(std::vector<float>& to, const torch::Tensor& values) {
  const auto flat = values.contiguous();
  to.insert(to.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
}

const uint8_t* exploration_mask_of(const Observations& observations, size_t world) {
  if (observations.exploration_mask.empty()) return nullptr;
  return observations.exploration_mask.data() +
         world * (observations.mask.size() / observations.rows.size());
}

}  // namespace

Collector::Collector(VectorEnv& worlds, Network& network, const Learner& learner,
                     const CollectorConfig& config, ThreadPool& threads, StageTimer& profile)
    : worlds_(worlds),
      network_(network),
      learner_(learner),
      requirements_(learner.requirements()),
      config_(config),
      threads_(threads),
      stage_timer_(profile),
      rollout_(worlds.shape()) {}

bool Collector::expert_decides(int world) const {
  return requirements_.expert_acts || (requirements_.expert_leads && world % config_.group == 0);
}

// Network outputs for the current observations of some environments, in order.
struct Collector::PolicyOutput {
  std::vector<float> log_prob, value;  // (R + B) of choices, (B) with a critic
};

Collector::PolicyOutput Collector::infer(std::span<const int32_t> worlds) {
  const Observations observations = worlds_.observations();
  std::vector<int32_t> rows;
  for (const int32_t n : worlds) rows.push_back(observations.rows[static_cast<size_t>(n)]);
  const std::vector<SampleRange> parts = split_by_rows(rows, kRowsPerPart);
  std::vector<std::pair<torch::Tensor, torch::Tensor>> results(parts.size());
  threads_.parallel_for_each(static_cast<int>(parts.size()), [&](int part) {
    const torch::NoGradGuard no_grad;  // for this thread
    const auto i = static_cast<size_t>(part);
    const RaggedBatch batch =
        current_observation_batch(worlds_, worlds.subspan(parts[i].from, parts[i].count));
    Heads heads = {kPolicyHead};
    if (requirements_.critic) heads.push_back(kValueHead);
    const NetworkOutput output = network_.forward(batch, heads);
    results[i] = {log_probs(output.logits(), batch.offset),
                  requirements_.critic ? output.value() : torch::Tensor()};
  });
  PolicyOutput out;
  for (const auto& [log_prob, value] : results) {
    append(out.log_prob, log_prob);
    if (requirements_.critic) append(out.value, value);
  }
  return out;
}

void Collector::trim_to_replay_buffer() { rollout_.keep_last(requirements_.replay); }

void Collector::collect(int update, std::vector<GoldenState>* golden) {
  torch::NoGradGuard no_grad;
  kept_ = rollout_.size();
  kept_action_rows_ = rollout_.rows();
  expert_matches_ = 0;
  const bool episodes = requirements_.steps == 0;
  if (episodes && worlds_.is_done(0)) worlds_.begin_next_episodes();
  const int32_t actions = worlds_.shape().actions();
  const Rng stream = Rng{config_.seed}.split(kActStream).split(static_cast<uint64_t>(update));
  std::vector<int32_t> action(static_cast<size_t>(worlds_.count())), active;
  for (int t = 0; episodes || t < requirements_.steps; ++t) {
    active.clear();
    for (int n = 0; n < worlds_.count(); ++n) {
      if (!worlds_.is_done(n)) active.push_back(n);
    }
    if (active.empty()) break;
    {
      const auto timed = stage_timer_.enter(StageTimer::Stage::kInference);
      rollout_.add_observations(worlds_, active);
      const PolicyOutput output = infer(active);
      const float* log_prob = output.log_prob.data();
      const Observations observations = worlds_.observations();
      for (const int32_t world : active) {
        const auto n = static_cast<size_t>(world);
        Rng rng =
            stream.split(static_cast<uint64_t>(t) * static_cast<uint64_t>(config_.all_worlds) +
                         static_cast<uint64_t>(config_.first_world + world));
        const int32_t rows = observations.rows[n];
        const ActionDistribution options{
            .log_prob = {log_prob, static_cast<size_t>(rows) + 1},
            .mask = observations.mask.data() + n * static_cast<size_t>(actions),
            .nothing = actions - 1,
            .exploration_mask = exploration_mask_of(observations, n)};
        const int32_t expert_action = observations.expert_action[n];
        const SampledAction sampled =
            expert_decides(world) ? SampledAction{expert_action, options.log_prob_of(expert_action)}
                                  : learner_.act(options, rng);
        action[n] = sampled.action;
        expert_matches_ += action[n] == expert_action;
        rollout_.action.push_back(action[n]);
        rollout_.log_prob.push_back(options.log_prob_of(action[n]));
        rollout_.behaviour_log_prob.push_back(sampled.log_prob);
        log_prob += rows + 1;
      }
      rollout_.value.insert(rollout_.value.end(), output.value.begin(), output.value.end());
    }
    if (golden != nullptr && golden->size() < kGoldenStates) record_golden(*golden);
    {
      const auto timed = stage_timer_.enter(StageTimer::Stage::kEnvironment);
      worlds_.step(action);
    }
    const Observations observations = worlds_.observations();
    for (const int32_t world : active) {
      const auto n = static_cast<size_t>(world);
      rollout_.reward.push_back(observations.reward[n]);
      rollout_.dt_s.push_back(observations.dt_s[n]);
      rollout_.ending.push_back(observations.ending[n]);
    }
    if (requirements_.critic && requirements_.replay == 0) add_values_of_truncated_episodes(active);
    for (const double s : worlds_.take_mean_jcts_s()) mean_jcts_s_.push_back(s);
    if (config_.interruptible) throw_if_interrupted();
  }
}

std::vector<float> Collector::current_values() {
  torch::NoGradGuard no_grad;
  std::vector<int32_t> all(static_cast<size_t>(worlds_.count()));
  std::iota(all.begin(), all.end(), 0);
  std::vector<float> out;
  append(out, network_.value(current_observation_batch(worlds_, all)));
  return out;
}

std::vector<int64_t> Collector::samples_to_learn() const {
  std::vector<int64_t> out;
  for (int64_t i = kept_; i < rollout_.size(); ++i) {
    const int32_t world = rollout_.world[static_cast<size_t>(i)];
    if (!requirements_.expert_leads || world % config_.group != 0) out.push_back(i);
  }
  return out;
}

// Stores the value of the final observation of each truncated episode, to bootstrap from. The last
// samples of the rollout are those of `active`.
void Collector::add_values_of_truncated_episodes(std::span<const int32_t> active) {
  rollout_.final_value.resize(rollout_.world.size(), 0);
  const auto ending = worlds_.observations().ending;
  if (std::find(ending.begin(), ending.end(), Ending::kTruncated) == ending.end()) return;
  std::vector<float> values;
  append(values, network_.value(final_observation_batch(worlds_)));
  const size_t first = rollout_.world.size() - active.size();
  for (size_t k = 0; k < active.size(); ++k) {
    const auto n = static_cast<size_t>(active[k]);
    if (ending[n] == Ending::kTruncated) rollout_.final_value[first + k] = values[n];
  }
}

// Adds one state per step, each from another environment, so that golden states differ.
void Collector::record_golden(std::vector<GoldenState>& golden) const {
  const ObservationShape shape = worlds_.shape();
  const Observations observations = worlds_.observations();
  const size_t n = golden.size() * 7 % static_cast<size_t>(worlds_.count());
  const auto row = [n](const auto& column, int64_t width) {
    const auto from = column.begin() + static_cast<int64_t>(n) * width;
    return std::vector(from, from + width);
  };
  GoldenState g;
  g.jobs = row(observations.jobs, int64_t{shape.rows} * shape.row_features);
  g.cluster = row(observations.cluster, shape.cluster_features);
  g.prior = row(observations.prior, shape.actions());
  g.mask = row(observations.mask, shape.actions());
  g.slots.assign(static_cast<size_t>(shape.rows), 0);
  g.rows = observations.rows[n];
  golden.push_back(std::move(g));
}

std::vector<float> logits_of(Network& network, const ObservationShape& shape, GoldenState& g) {
  torch::NoGradGuard no_grad;
  RaggedBatch batch;
  const int64_t rows = g.rows;
  batch.jobs = torch::from_blob(g.jobs.data(), {rows, shape.row_features});
  batch.offset = torch::tensor({int64_t{0}, rows});
  batch.count = torch::full({1, 1}, static_cast<float>(std::max<int64_t>(rows, 1)));
  batch.cluster = torch::from_blob(g.cluster.data(), {1, shape.cluster_features});
  const auto nothing = static_cast<size_t>(shape.actions()) - 1;
  std::vector<float> prior(g.prior.begin(), g.prior.begin() + rows), choices;
  prior.push_back(g.prior[nothing]);
  batch.prior = torch::from_blob(prior.data(), {rows + 1});
  append(choices, network.logits(batch));
  std::vector<float> out(nothing + 1, kMaskedLogit);
  for (size_t a = 0; a <= nothing; ++a) {
    if (g.mask[a] != 0) out[a] = choices[std::min(a, static_cast<size_t>(rows))];
  }
  return out;
}

}  // namespace yard
