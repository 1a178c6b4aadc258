// Where a task writes what an agent sees at a decision: a window of J jobs x F features, C features
// of the cluster, and which of J + 1 choices there are, the last of them to do nothing.
#pragma once

#include <cstdint>

namespace yard {

// How large what a task shows is: J rows, F features a row, C features of the whole.
struct TaskShape {
  int32_t rows = 0, row_features = 0, cluster_features = 0;
  int32_t actions() const { return rows + 1; }  // one a row, and nothing
  friend bool operator==(const TaskShape&, const TaskShape&) = default;
};

constexpr float kMaskedLogit = -1e9F;  // of an action that is not legal

// Written by a task's observe(); a batch lends each world its slice of the big tensors.
struct Observation {
  float* jobs;        // (J, F) row-major; rows from `rows` on are zero
  float* cluster;     // (C)
  uint8_t* mask;      // (J + 1)
  float* prior;       // (J + 1) logits, very low where the mask is 0; null: not wanted
  int32_t* slots;     // (J) who stands in each row
  int32_t rows;       // how many rows of `jobs` exist
  int32_t filled;     // rows of `jobs` from here on are zero already; J: who knows what they are
  int32_t choices;    // how many rows may be chosen; 0: nothing to choose
  int32_t suggested;  // the option that a task's own heuristic would pick
  // (J + 1) what is worth trying while an agent learns: zeros before observe(), which sets some to
  // 1; null: nobody asks.
  uint8_t* hints = nullptr;
};

}  // namespace yard
