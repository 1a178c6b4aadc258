// What the slow world knows of models' speeds: a plain copy of a table, looked up cell by cell.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "env/cluster/tier.h"

namespace yard::reference {

// How many nodes take part in an exchange: one, two, three, four, five to eight, more.
constexpr int kWidths = 6;

struct SpeedCell {
  double steps_per_s = 0;  // 0: the model does not fit
  double exchange_share =
      0;  // by how much an iteration grows when its exchange takes twice as long
};

struct SpeedKind {
  // by GPU type, number of GPUs, tier spanned, width
  std::vector<std::vector<std::array<std::array<SpeedCell, kWidths>, kTiers>>> cells;
  double gradient_bytes = 0;
  bool worker_steps = false;     // an iteration is a step of every GPU
  bool server_exchange = false;  // every GPU sends its own gradients
};

struct SpeedBook {
  std::vector<SpeedKind> kinds;
  std::vector<std::vector<std::vector<double>>> pair_rate;  // by type: of one kind beside another
  double unmeasured_pair = 1;
  std::vector<int> kind_of_job;           // -1: nobody knows its model
  std::vector<double> asked_steps_per_s;  // by job: what rate 1 means

  const SpeedCell& cell(int kind, int type, int gpus, Tier tier, int nodes) const;
  int max_gpus() const;  // for which there are cells; larger jobs scale no further
  double beside(int kind, int other, int type) const;
};

}  // namespace yard::reference
