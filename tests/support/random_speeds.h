// Invented speed tables. RandomSpeeds covers every cause of slowness: types, numbers of GPUs,
// spans, models which do not fit, exchanges of every size, slow pairs of models.
//
//   const RandomSpeeds speeds(Rng(1), num_types, num_jobs);
//   scene.set_speeds(speeds.columns(), speeds.classes);
#pragma once

#include <cstdint>
#include <vector>

#include "env/base/core/rng.h"
#include "env/sim/speed/speed.h"

namespace yard::testing {

// Owns the arrays which SpeedColumns points to. Dims: C classes.
struct InventedTables {
  SpeedColumns columns() const;

  int32_t num_types = 1, num_kinds = 1, max_gpus = 8;
  double unmeasured_pair = 1;
  std::vector<int32_t> class_kind;  // (C)
  std::vector<double> class_reference, type_speed, steps_per_s, exchange_share, pair_rate,
      gradient_bytes;
  std::vector<uint8_t> counts_worker_steps, server_exchange;
};

struct RandomSpeeds : InventedTables {
  RandomSpeeds(Rng rng, int32_t num_types, size_t num_jobs);

  std::vector<int32_t> classes;  // (N)
};

}  // namespace yard::testing
