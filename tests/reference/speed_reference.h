// Speeds of models for the slow world: a plain copy of a table, looked up cell by cell.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "env/cluster/tier.h"

namespace yard::reference {

// Number of nodes in an exchange: one, two, three, four, five to eight, more.
constexpr int kWidths = 6;

struct SpeedCell {
  double steps_per_s = 0;     // 0: the model does not fit
  double exchange_share = 0;  // relative growth of an iteration if its exchange takes twice as long
};

struct SpeedKind {
  // by GPU type, number of GPUs, tier spanned, width
  std::vector<std::vector<std::array<std::array<SpeedCell, kWidths>, kTiers>>> cells;
  double gradient_bytes = 0;
  bool counts_worker_steps = false;  // iteration: a step of every GPU
  bool server_exchange = false;      // each GPU sends its own gradients
};

struct SpeedBook {
  std::vector<SpeedKind> kinds;
  std::vector<std::vector<std::vector<double>>> pair_rate;  // by type: of a kind with another
  double unmeasured_pair = 1;
  std::vector<int> kind_of_job;           // -1: model not known
  std::vector<double> asked_steps_per_s;  // by job: speed at rate 1

  const SpeedCell& cell(int kind, int type, int gpus, Tier tier, int nodes) const;
  int max_gpus() const;  // of cells; larger jobs scale no further
  double beside(int kind, int other, int type) const;
};

}  // namespace yard::reference
