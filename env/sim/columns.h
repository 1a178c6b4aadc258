// What never changes during a run, as plain columns that rules read on the CPU and on the GPU.
// The owners (`ClusterSpec`, `JobTable`) live on the host; these are views of them.
// Dims: M nodes, G GPUs, N jobs of the workload, K distinct GPU counts.
#pragma once

#include <cstdint>

#include "env/base/check.h"

namespace yard {

constexpr int64_t kNever = INT64_MAX;
constexpr int32_t kNone = -1;
constexpr int32_t kMaxNodeGpus = 64;  // a node's GPUs are the bits of one word

struct SpecColumns {
  int32_t num_nodes = 0;
  int32_t total_gpus = 0;
  int32_t max_node_gpus = 0;
  const int32_t* node_gpus = nullptr;      // (M)
  const int32_t* node_gpu0 = nullptr;      // (M)  index of the node's first GPU among all
  const double* node_speed = nullptr;      // (M)  work per unit of time, reference type = 1
  const int32_t* node_rack = nullptr;      // (M)  nodes of one rack share a switch
  const int32_t* nodes_of_size = nullptr;  // (max_node_gpus + 1)  how many nodes have so many GPUs
};

struct JobColumns {
  int32_t num_jobs = 0;
  int32_t num_classes = 0;
  int32_t num_users = 0;
  const int32_t* gpus = nullptr;        // (N)
  const int32_t* size_class = nullptr;  // (N)  index into class_gpus
  const int32_t* user = nullptr;        // (N)  kNone where the trace names nobody
  const int64_t* submit_us = nullptr;   // (N)  rising
  const int64_t* limit_us = nullptr;    // (N)  the user's own limit, kNone where there is none
  const int32_t* class_gpus = nullptr;  // (K)  rising
};

// What the `default` rules charge; sources and figures: design decision 8, docs/architecture.md.
struct Costs {
  int64_t save_us = 10'000'000;           // GPUs stay held while a preempted job saves
  int64_t restore_us = 30'000'000;        // before a preempted job goes on, up to `small_gpus`
  int64_t restore_large_us = 60'000'000;  // the same for larger jobs
  int32_t small_gpus = 8;

  YARD_HD int64_t restore(int32_t gpus) const {
    return gpus <= small_gpus ? restore_us : restore_large_us;
  }
};

// All that one step reads beside truth and state.
struct Fixed {
  SpecColumns spec;
  JobColumns jobs;
  Costs costs;
};

}  // namespace yard
