#include "tests/support/random_speeds.h"

#include <array>

namespace yard::testing {

RandomSpeeds::RandomSpeeds(Rng rng, int32_t types, size_t num_jobs) {
  num_types = types;
  num_kinds = 3;
  max_gpus = std::array{4, 8, 16}[rng.below(3)];
  unmeasured_pair = rng.below(2) == 0 ? 0.5 : 1;
  class_kind = {-1};  // the neutral class
  class_reference = {1};
  for (int32_t c = 0; c < 6; ++c) {
    class_kind.push_back(static_cast<int32_t>(rng.below(static_cast<uint32_t>(num_kinds))));
    class_reference.push_back(2 + 4 * rng.uniform());
  }
  for (size_t j = 0; j < num_jobs; ++j) {
    classes.push_back(static_cast<int32_t>(rng.below(static_cast<uint32_t>(class_kind.size()))));
  }
  for (int32_t k = 0; k < num_kinds; ++k) {
    gradient_bytes.push_back(rng.below(4) == 0 ? 0 : 2e9 * rng.uniform());
    counts_worker_steps.push_back(rng.below(2) == 0);
    server_exchange.push_back(rng.below(3) == 0);
    for (int32_t t = 0; t < num_types; ++t) {
      const double alone = 1 + 3 * rng.uniform();
      const bool large = rng.below(6) == 0;  // does not fit on one GPU
      for (int32_t n = 0; n <= max_gpus; ++n) {
        for (int32_t span = 0; span < kSpans; ++span) {
          const double spread = span == 0 ? 1 : 0.5 + 0.5 * rng.uniform();
          const double scaled = 1 + (n - 1) * 0.7;
          steps_per_s.push_back(n == 0 || (large && n == 1) ? 0 : alone * scaled * spread);
          exchange_share.push_back(span < 2 ? 0 : std::array{0.0, 0.25, 1.0}[rng.below(3)]);
        }
      }
    }
  }
  for (int32_t i = 0; i < num_types * num_kinds * num_kinds; ++i) {
    pair_rate.push_back(rng.below(12) == 0 ? 0 : 0.4 + 0.6 * rng.uniform());
  }
  type_speed.assign(static_cast<size_t>(num_types), 1);  // the cluster scales the neutral class
}

SpeedColumns InventedTables::columns() const {
  SpeedColumns c;
  c.num_classes = static_cast<int32_t>(class_kind.size());
  c.num_kinds = num_kinds;
  c.num_types = num_types;
  c.max_gpus = max_gpus;
  c.unmeasured_pair = unmeasured_pair;
  c.type_speed = type_speed.data();
  c.class_kind = class_kind.data();
  c.class_reference = class_reference.data();
  c.steps_per_s = steps_per_s.data();
  c.exchange_share = exchange_share.data();
  c.pair_rate = pair_rate.data();
  c.gradient_bytes = gradient_bytes.data();
  c.counts_worker_steps = counts_worker_steps.data();
  c.server_exchange = server_exchange.data();
  return c;
}

}  // namespace yard::testing
