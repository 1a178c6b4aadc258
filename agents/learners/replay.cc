#include "agents/learners/replay.h"

#include <cmath>

namespace yard {
void ReplayConfig::fields(FieldList& f) {
  f("buffer_size", buffer_size, 1, 100'000'000, "samples per rank kept after their update");
  f("batch_size", batch_size, 1, 100'000'000,
    "samples per rank drawn from the kept ones for an update");
  f("num_steps", num_steps, 2, 100'000, "decisions per environment between updates");
  f("n_step", n_step, 1, 10'000,
    "decisions that advance time before the return continues with the value estimate");
  explore.fields(f);
}

Learner::Requirements ReplayConfig::requirements() const {
  return {.steps = num_steps, .critic = true, .replay = buffer_size, .explore = explore.explore};
}

ReplayBatch sample_replay(const Experience& e, const ReplayConfig& config) {
  const Rollout& r = e.rollout;
  const auto trajectories = r.trajectories(e.worlds);
  // The next sample of the same environment, -1: none.
  std::vector<int64_t> next(static_cast<size_t>(r.size()), -1), known;
  const auto has_successor = [&](size_t i) {
    return r.ending[i] == Ending::kTerminated || (r.ending[i] == Ending::kNone && next[i] >= 0);
  };
  for (const auto& trajectory : trajectories) {
    for (size_t k = 0; k < trajectory.size(); ++k) {
      const auto i = static_cast<size_t>(trajectory[k]);
      if (k + 1 < trajectory.size()) next[i] = trajectory[k + 1];
      if (has_successor(i)) known.push_back(trajectory[k]);
    }
  }
  ReplayBatch out;
  if (known.empty()) return out;
  Rng rng = e.rng;
  for (int k = 0; k < config.batch_size; ++k) {
    const int64_t sample = known[rng.below(static_cast<uint32_t>(known.size()))];
    NStepReturn n_step_return{.discount = 1};
    int passed = 0;
    for (int64_t at = sample;; at = next[static_cast<size_t>(at)]) {
      const auto i = static_cast<size_t>(at);
      const double next_discount =
          n_step_return.discount * std::exp(-static_cast<double>(r.dt_s[i]) / e.horizon_s);
      if (!has_successor(i)) {
        n_step_return.next = at;
        break;
      }
      n_step_return.reward += n_step_return.discount * e.reward_scale * r.reward[i];
      n_step_return.discount = next_discount;
      if (r.ending[i] == Ending::kTerminated) {
        n_step_return.discount = 0;
        break;
      }
      passed += r.dt_s[i] > 0;
      if (passed == config.n_step) {
        n_step_return.next = next[i];
        break;
      }
    }
    out.sample.push_back(sample);
    out.n_step_return.push_back(n_step_return);
  }
  return out;
}

std::vector<BatchOutput> forward_samples(Network& network, const Rollout& rollout,
                                         const std::vector<int64_t>& samples, const Heads& heads,
                                         ThreadPool& threads) {
  constexpr int64_t kRowsPerPart = 12'288;
  const std::vector<SampleRange> parts = split_by_rows(rollout.row_counts(samples), kRowsPerPart);
  std::vector<BatchOutput> out(parts.size());
  threads.parallel_for_each(static_cast<int>(parts.size()), [&](int part) {
    const torch::NoGradGuard no_grad;  // for this thread
    const auto i = static_cast<size_t>(part);
    out[i].seen = rollout.batch(std::span(samples).subspan(parts[i].from, parts[i].count));
    out[i].output = network.forward(out[i].seen, heads);
  });
  return out;
}

std::vector<int64_t> value_bootstrap_samples(const ReplayBatch& drawn) {
  std::vector<int64_t> out;
  for (const NStepReturn& n_step_return : drawn.n_step_return) {
    if (n_step_return.next >= 0) out.push_back(n_step_return.next);
  }
  return out;
}

Returns n_step_targets(const ReplayBatch& drawn, const std::vector<float>& values,
                       int64_t samples) {
  Returns out;
  out.advantage.resize(static_cast<size_t>(samples));
  out.target.resize(static_cast<size_t>(samples));
  out.drawn = drawn.sample;
  size_t k = 0;
  for (size_t i = 0; i < drawn.sample.size(); ++i) {
    const NStepReturn& n_step_return = drawn.n_step_return[i];
    const double then = n_step_return.next >= 0 ? values[k++] : 0;
    out.target[static_cast<size_t>(drawn.sample[i])] =
        static_cast<float>(n_step_return.reward + n_step_return.discount * then);
  }
  return out;
}

}  // namespace yard
