// Throughput of jobs with measured models, from tables, so that CPU and GPU agree bit for bit.
// table.h builds the tables; docs/design/speed.md gives their sources and errors. Dims: C job
// classes, K kinds of models, T GPU types, N GPUs of a job (0 to max_gpus), S spans.
#pragma once

#include <cstdint>

#include "env/base/core/check.h"
#include "env/cluster/tier.h"
#include "env/trace/core/pattern.h"

namespace yard {

// Spread: a class of numbers of nodes: 0 or 1, 2, 3, 4, 5 to 8, more than 8. Exchanges measured
// over two nodes differ much from exchanges over more nodes.
constexpr int32_t kSpreads = 6;
YARD_HD inline int32_t node_spread_class(int32_t nodes) {
  if (nodes < 5) return nodes < 1 ? 0 : nodes - 1;
  return nodes < 9 ? 4 : 5;
}

// Span: the widest tier of a job's exchange and, from tier rack on, its spread. A job on one GPU
// has the span of an island.
constexpr int32_t kSpans = 2 + 3 * (kSpreads - 1);
YARD_HD inline int32_t exchange_span_of(Tier tier, int32_t nodes) {
  if (tier <= Tier::kNode) return tier == Tier::kNode ? 1 : 0;
  const int32_t t = static_cast<int32_t>(tier) - static_cast<int32_t>(Tier::kRack);
  const int32_t spread = nodes < 2 ? 1 : node_spread_class(nodes);
  return 2 + t * (kSpreads - 1) + spread - 1;
}

// Number of all-reduce choices, the first of Pattern: the job's own, ring, tree, hierarchical.
constexpr int32_t kAllReduces = static_cast<int32_t>(Pattern::kHierarchical) + 1;

// A kind is a model with a batch size; a class is a kind with a demand in GPUs. Class 0 is neutral:
// the throughput of its jobs depends on the GPU type only.
struct SpeedColumns {
  int32_t num_classes = 0;
  int32_t num_kinds = 0;
  int32_t num_types = 0;
  int32_t max_gpus = 0;
  double unmeasured_pair = 0;               // pair_rate() of unmeasured pairs
  const double* type_speed = nullptr;       // (T)  throughput of neutral jobs
  const int32_t* class_kind = nullptr;      // (C)  -1: neutral
  const double* class_reference = nullptr;  // (C)  steps/s on the requested GPUs, consolidated
  const double* steps_per_s = nullptr;      // (K, T, N, S)  0: the model does not fit
  const double* exchange_share = nullptr;   // (K, T, N, S)  see contention.h
  const double* pair_rate = nullptr;        // (T, K, K)  rate of the first kind beside the second
  const double* gradient_bytes = nullptr;   // (K)  bytes per replica; 0: unknown
  const uint8_t* counts_worker_steps = nullptr;  // (K)  1: an iteration counts one step per GPU
  const uint8_t* server_exchange = nullptr;  // (K)  1: each GPU sends its own gradients, not a sum
  int32_t max_servers = 0;                   // largest number of parameter servers of any job
  // (C, max_servers + 1) kind of a class with n parameter servers; null if no job may run with
  // another number of parameter servers than requested
  const int32_t* kind_with = nullptr;
  // (C, kAllReduces)  kind of a class by all-reduce, -1: no choice; null: no choice for any class
  const int32_t* kind_by_all_reduce = nullptr;
  const uint8_t* tree_exchange =
      nullptr;  // (K)  1: sends a tree all-reduce's traffic; used only with kind_by_all_reduce
};

// Returns whether the scheduler may choose the all-reduce of the class's jobs.
YARD_HD inline bool may_choose_all_reduce(const SpeedColumns& s, int32_t job_class) {
  return s.kind_by_all_reduce != nullptr && s.kind_by_all_reduce[job_class * kAllReduces] >= 0;
}

// Returns the kind of a class with `servers` parameter servers (0: as requested) and the all-reduce
// `all_reduce` (kNone: the job's own; ignored unless may_choose_all_reduce()). Returns -1 if
// the class is neutral.
YARD_HD inline int32_t model_variant_of(const SpeedColumns& s, int32_t job_class, int32_t servers,
                                        Pattern all_reduce) {
  if (may_choose_all_reduce(s, job_class)) {
    return s.kind_by_all_reduce[job_class * kAllReduces + static_cast<int32_t>(all_reduce)];
  }
  if (s.kind_with == nullptr || servers < 1) return s.class_kind[job_class];
  const int32_t n = servers < s.max_servers ? servers : s.max_servers;
  return s.kind_with[job_class * (s.max_servers + 1) + n];
}

// Returns an index into the columns of dims (K, T, N, S).
YARD_HD inline int64_t speed_cell_index(const SpeedColumns& s, int32_t kind, int32_t type,
                                        int32_t gpus, Tier tier, int32_t nodes) {
  const int64_t row = (static_cast<int64_t>(kind) * s.num_types + type) * (s.max_gpus + 1) + gpus;
  return row * kSpans + exchange_span_of(tier, nodes);
}

// Returns the isolated throughput of a class: 1 on the requested number of GPUs of the reference
// type, consolidated; 0 if the model does not fit on the GPUs. Requires: 1 <= gpus <= max_gpus.
YARD_HD inline double speed_of(const SpeedColumns& s, int32_t job_class, int32_t type, int32_t gpus,
                               Tier tier, int32_t nodes, int32_t servers = 0,
                               Pattern all_reduce = Pattern::kNone) {
  const int32_t kind = model_variant_of(s, job_class, servers, all_reduce);
  if (kind < 0) return s.type_speed[type];
  return s.steps_per_s[speed_cell_index(s, kind, type, gpus, tier, nodes)] /
         s.class_reference[job_class];
}

// Returns the relative growth of an iteration if its exchange takes twice as long.
YARD_HD inline double exchange_share(const SpeedColumns& s, int32_t job_class, int32_t type,
                                     int32_t gpus, Tier tier, int32_t nodes, int32_t servers = 0,
                                     Pattern all_reduce = Pattern::kNone) {
  const int32_t kind = model_variant_of(s, job_class, servers, all_reduce);
  return kind < 0 ? 0 : s.exchange_share[speed_cell_index(s, kind, type, gpus, tier, nodes)];
}

// Returns the share of throughput, 0 to 1, left to `job_class` while class `other_class` runs on
// the same GPUs; 0 if the two classes may not share a GPU.
YARD_HD inline double pair_rate(const SpeedColumns& s, int32_t job_class, int32_t other_class,
                                int32_t type) {
  const int32_t one = s.class_kind[job_class], two = s.class_kind[other_class];
  if (one < 0 || two < 0) return s.unmeasured_pair;
  return s.pair_rate[(static_cast<int64_t>(type) * s.num_kinds + one) * s.num_kinds + two];
}

// Returns the mean bytes/s, each way, which a job sends over each link of its exchange. Returns 0
// if the model's size is unknown. Requires: 1 <= gpus <= max_gpus.
YARD_HD inline int64_t link_bytes_per_s(const SpeedColumns& s, int32_t job_class, int32_t type,
                                        int32_t gpus, Tier tier, int32_t nodes, int32_t servers = 0,
                                        Pattern all_reduce = Pattern::kNone) {
  const int32_t kind = model_variant_of(s, job_class, servers, all_reduce);
  if (kind < 0 || nodes < 2) return 0;
  const double steps = s.counts_worker_steps[kind] != 0 ? gpus : 1;
  const double iterations_per_s =
      s.steps_per_s[speed_cell_index(s, kind, type, gpus, tier, nodes)] / steps;
  const double copies = s.server_exchange[kind] != 0 ? static_cast<double>(gpus) / nodes : 1;
  const bool tree = s.kind_by_all_reduce != nullptr && s.tree_exchange[kind] != 0;
  const double times = tree ? 2.0 : 2.0 * (nodes - 1) / nodes;
  const double bytes = times * s.gradient_bytes[kind] * copies;
  return static_cast<int64_t>(iterations_per_s * bytes);
}

}  // namespace yard
