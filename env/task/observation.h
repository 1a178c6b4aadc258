// Buffers into which a task writes an observation: a window of J jobs x F features, C features of
// the cluster, and a mask of J + 1 actions, the last of which is to do nothing.
#pragma once

#include <cstdint>

namespace yard {

// Shape of an agent's observations: J rows, F features per row, C features of the cluster.
struct ObservationShape {
  int32_t rows = 0, row_features = 0, cluster_features = 0;
  int32_t actions() const { return rows + 1; }  // one action per row, and doing nothing
  friend bool operator==(const ObservationShape&, const ObservationShape&) = default;
};

constexpr float kMaskedLogit = -1e9F;  // logit of an illegal action

// Written by Agent::observe(). Each environment of a batch writes into a slice of shared tensors.
struct Observation {
  float* jobs;            // (J, F) row-major; rows after the first `rows` are zero
  float* cluster;         // (C)
  uint8_t* mask;          // (J + 1)
  float* prior;           // (J + 1) logits, very low where the mask is 0; null: not needed
  int32_t* slots;         // (J) the slot of the job in each row
  int32_t rows;           // number of rows of `jobs` in use
  int32_t filled;         // number of rows of `jobs` that may hold old values; J: unknown
  int32_t choices;        // number of rows that may be chosen; 0: nothing to choose
  int32_t expert_action;  // the action that the expert would take
  // (J + 1) exploration mask: zeros before observe(), which sets the actions to explore to 1; null
  // if the mask is not needed.
  uint8_t* exploration_mask = nullptr;
};

}  // namespace yard
