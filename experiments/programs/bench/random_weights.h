// Draws random weights of a job-scorer network, for benchmarks which need no trained network.
#pragma once

#include "env/base/core/rng.h"
#include "experiments/programs/bench/bench.h"
#include "policies/learned/job_scorer.h"

namespace yard::bench {

inline Tensors random_weights(int hidden, const ObservationShape& shape, uint64_t seed,
                              double scale) {
  Rng rng(seed);
  Tensors weights;
  for (const auto& [name, of] : job_scorer_shapes(hidden, shape)) {
    Tensor& t = weights[name];
    t.shape = of;
    size_t count = 1;
    for (const int64_t n : of) count *= static_cast<size_t>(n);
    for (size_t i = 0; i < count; ++i) t.data.push_back(static_cast<float>(rng.normal() * scale));
  }
  return weights;
}

}  // namespace yard::bench
