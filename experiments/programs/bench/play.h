// Plays training environments with random actions and measures the environments' speed.
#pragma once

#include "env/base/core/rng.h"
#include "experiments/programs/bench/bench.h"

namespace yard::bench {

// Draws a uniformly random legal action for each environment. `no_op`: index of the no-op action.
template <class Env>
void draw_legal_actions(const Env& env, int32_t no_op, Rng& rng, std::vector<int32_t>& actions) {
  for (size_t n = 0; n < actions.size(); ++n) {
    const uint8_t* mask = env.mask().data() + n * (static_cast<size_t>(no_op) + 1);
    const auto rows = static_cast<uint32_t>(env.rows()[n]);
    do {  // most actions are legal: draw until a legal one comes
      const uint32_t a = rng.below(rows + 1);
      actions[n] = a == rows ? no_op : static_cast<int32_t>(a);
    } while (!mask[actions[n]]);
  }
}

struct EnvSpeed {
  double best_per_s, mean_per_s;  // decisions per second: best run, mean run
  double rows, waiting;           // mean rows and mean waiting jobs per decision
};

// Measures `stretches` stretches of `steps` steps, each repeated from the same saved state.
// best_per_s counts only the fastest repetition of each stretch. `before_step` is called before
// each step.
template <class Env>
EnvSpeed measure_env_speed(Env& env, int worlds, int32_t no_op, int stretches, int steps,
                           const std::function<void()>& before_step) {
  constexpr int kTimes = 6;
  env.reset();
  Rng rng(7);
  std::vector<int32_t> actions(static_cast<size_t>(worlds));
  double rows = 0, waiting = 0, best = 0, mean = 0;
  const auto run = [&](int count) {
    double spent = 0;
    for (int i = 0; i < count; ++i) {
      draw_legal_actions(env, no_op, rng, actions);
      before_step();
      spent += seconds([&] { env.step(actions); });
      for (int n = 0; n < worlds; ++n) {
        rows += env.rows()[static_cast<size_t>(n)];
        waiting += env.num_waiting(n);
      }
    }
    return spent;
  };
  run(3'000);  // warm-up until environments are in mid-episode
  rows = waiting = 0;
  for (int i = 0; i < stretches; ++i) {
    const std::vector<std::byte> saved = env.save();
    const Rng before = rng;
    double quickest = 1e300;
    for (int k = 0; k < kTimes; ++k) {
      if (k > 0) {
        env.restore(saved);
        rng = before;
      }
      const double spent = run(steps);
      quickest = std::min(quickest, spent);
      mean += spent / kTimes;
    }
    best += quickest;
  }
  const double decisions = 1.0 * stretches * steps * worlds;
  return {decisions / best, decisions / mean, rows / (decisions * kTimes),
          waiting / (decisions * kTimes)};
}

}  // namespace yard::bench
