#include "agents/replay.h"

#include <cmath>

namespace yard {
namespace {

constexpr int64_t kRowsAtOnce = 12'288;  // per part

}  // namespace

void ReplayConfig::fields(FieldList& f) {
  f("replay", replay, 1, 100'000'000, "samples kept beyond their update, of each rank");
  f("drawn", drawn, 1, 100'000'000, "samples of them that an update learns from, on each rank");
  f("steps", steps, 2, 100'000, "decisions a world between updates");
  f("n_step", n_step, 1, 10'000,
    "decisions that let time pass, after which the estimate takes the place of what was earned");
  explore.fields(f);
}

Learner::Wants ReplayConfig::wants() const {
  return {.steps = steps, .critic = true, .replay = replay, .explore = explore.explore};
}

Drawn draw_replayed(const Experience& e, const ReplayConfig& config) {
  const Rollout& r = e.rollout;
  const auto chains = r.chains(e.worlds);
  // The next sample of the same environment, -1: none.
  std::vector<int64_t> next(static_cast<size_t>(r.size()), -1), known;
  const auto leads_somewhere = [&](size_t i) {
    return r.ending[i] == Ending::kTerminated || (r.ending[i] == Ending::kNone && next[i] >= 0);
  };
  for (const auto& chain : chains) {
    for (size_t k = 0; k < chain.size(); ++k) {
      const auto i = static_cast<size_t>(chain[k]);
      if (k + 1 < chain.size()) next[i] = chain[k + 1];
      if (leads_somewhere(i)) known.push_back(chain[k]);
    }
  }
  Drawn out;
  if (known.empty()) return out;
  Rng rng = e.rng;
  for (int k = 0; k < config.drawn; ++k) {
    const int64_t sample = known[rng.below(static_cast<uint32_t>(known.size()))];
    Ahead ahead{.discount = 1};
    int passed = 0;
    for (int64_t at = sample;; at = next[static_cast<size_t>(at)]) {
      const auto i = static_cast<size_t>(at);
      const double faded = ahead.discount * std::exp(-static_cast<double>(r.dt_s[i]) / e.horizon_s);
      if (!leads_somewhere(i)) {
        ahead.next = at;
        break;
      }
      ahead.reward += ahead.discount * e.reward_scale * r.reward[i];
      ahead.discount = faded;
      if (r.ending[i] == Ending::kTerminated) {
        ahead.discount = 0;
        break;
      }
      passed += r.dt_s[i] > 0;
      if (passed == config.n_step) {
        ahead.next = next[i];
        break;
      }
    }
    out.sample.push_back(sample);
    out.ahead.push_back(ahead);
  }
  return out;
}

std::vector<Judgement> judge_samples(Network& network, const Rollout& rollout,
                                     const std::vector<int64_t>& samples, Heads heads,
                                     ThreadPool& threads) {
  const std::vector<Part> parts = parts_of(rollout.rows_of(samples), kRowsAtOnce);
  std::vector<Judgement> out(parts.size());
  threads.each(static_cast<int>(parts.size()), [&](int part) {
    const torch::NoGradGuard no_grad;  // for this thread
    const auto i = static_cast<size_t>(part);
    out[i].seen = rollout.batch(std::span(samples).subspan(parts[i].from, parts[i].count));
    out[i].judged = network.judge(out[i].seen, heads);
  });
  return out;
}

std::vector<int64_t> following(const Drawn& drawn) {
  std::vector<int64_t> out;
  for (const Ahead& ahead : drawn.ahead) {
    if (ahead.next >= 0) out.push_back(ahead.next);
  }
  return out;
}

Returns bootstrapped(const Drawn& drawn, const std::vector<float>& values, int64_t samples) {
  Returns out;
  out.advantage.resize(static_cast<size_t>(samples));
  out.target.resize(static_cast<size_t>(samples));
  out.drawn = drawn.sample;
  size_t k = 0;
  for (size_t i = 0; i < drawn.sample.size(); ++i) {
    const Ahead& ahead = drawn.ahead[i];
    const double then = ahead.next >= 0 ? values[k++] : 0;
    out.target[static_cast<size_t>(drawn.sample[i])] =
        static_cast<float>(ahead.reward + ahead.discount * then);
  }
  return out;
}

}  // namespace yard
