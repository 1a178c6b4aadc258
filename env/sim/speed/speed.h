// How fast a job runs on what it is given: looked up, never computed, so that the CPU and the GPU
// agree bit for bit. The tables are made at load (table.h); units, sources and errors:
// docs/speed.md. Dims: C classes of jobs, K kinds of models, T GPU types, N GPUs of a job (0 to
// max_gpus), S spans.
#pragma once

#include <cstdint>

#include "env/base/check.h"
#include "env/cluster/tier.h"
#include "env/trace/pattern.h"

namespace yard {

// How many nodes take part: at most one, two, three, four, five to eight, more. Exchanges over two
// nodes were measured to differ much from those over more.
constexpr int32_t kSpreads = 6;
YARD_HD inline int32_t spread_of(int32_t nodes) {
  if (nodes < 5) return nodes < 1 ? 0 : nodes - 1;
  return nodes < 9 ? 4 : 5;
}

// The tier of a job's exchange with, from the rack on, its spread. One GPU counts as an island.
constexpr int32_t kSpans = 2 + 3 * (kSpreads - 1);
YARD_HD inline int32_t span_of(Tier tier, int32_t nodes) {
  if (tier <= Tier::kNode) return tier == Tier::kNode ? 1 : 0;
  const int32_t t = static_cast<int32_t>(tier) - static_cast<int32_t>(Tier::kRack);
  const int32_t spread = nodes < 2 ? 1 : spread_of(nodes);
  return 2 + t * (kSpreads - 1) + spread - 1;
}

// What the all-reduce of a job can be: its own, ring, tree, two levels; the first of Pattern.
constexpr int32_t kAllReduces = static_cast<int32_t>(Pattern::kHierarchical) + 1;

// A class is what jobs of one kind that ask for the same share; a kind is a model with a batch.
// Class 0 is neutral: of its jobs nothing is known but the speed of the type.
struct SpeedColumns {
  int32_t num_classes = 0;
  int32_t num_kinds = 0;
  int32_t num_types = 0;
  int32_t max_gpus = 0;
  double unmeasured_pair = 0;                // rate of each of two models that nobody measured
  const double* type_speed = nullptr;        // (T)
  const int32_t* class_kind = nullptr;       // (C)  -1: neutral
  const double* class_reference = nullptr;   // (C)  steps/s as asked for, consolidated
  const double* steps_per_s = nullptr;       // (K, T, N, S)  0: does not fit
  const double* exchange_share = nullptr;    // (K, T, N, S)  see contention.h
  const double* pair_rate = nullptr;         // (T, K, K)  of the first beside the second
  const double* gradient_bytes = nullptr;    // (K)  of a replica; 0: not known
  const uint8_t* worker_steps = nullptr;     // (K)  an iteration is a step of every GPU, not one
  const uint8_t* server_exchange = nullptr;  // (K)  each GPU sends its gradients, not their sum
  int32_t max_servers = 0;                   // that any job may get
  // (C, max_servers + 1) what a class becomes with so many parameter servers; null where no job may
  // get other numbers of them than it asks for.
  const int32_t* kind_with = nullptr;
  // (C, kAllReduces) what a class becomes by another all-reduce, -1 where its jobs have no choice;
  // null where nobody has.
  const int32_t* kind_by = nullptr;
  const uint8_t* tree_exchange = nullptr;  // (K)  a tree's traffic; read where kind_by is
};

// Whether jobs of the class may be told how to exchange.
YARD_HD inline bool has_choice(const SpeedColumns& s, int32_t job_class) {
  return s.kind_by != nullptr && s.kind_by[job_class * kAllReduces] >= 0;
}

// The kind of a class, where its jobs have that many parameter servers; 0: as many as they ask for.
// `by`: the all-reduce of jobs that have the choice; kNone: their own.
YARD_HD inline int32_t kind_of(const SpeedColumns& s, int32_t job_class, int32_t servers,
                               Pattern by) {
  if (has_choice(s, job_class)) {
    return s.kind_by[job_class * kAllReduces + static_cast<int32_t>(by)];
  }
  if (s.kind_with == nullptr || servers < 1) return s.class_kind[job_class];
  const int32_t n = servers < s.max_servers ? servers : s.max_servers;
  return s.kind_with[job_class * (s.max_servers + 1) + n];
}

YARD_HD inline int64_t speed_cell(const SpeedColumns& s, int32_t kind, int32_t type, int32_t gpus,
                                  Tier tier, int32_t nodes) {
  const int64_t row = (static_cast<int64_t>(kind) * s.num_types + type) * (s.max_gpus + 1) + gpus;
  return row * kSpans + span_of(tier, nodes);
}

// Returns work per unit of time; 1 on what the class asked for, consolidated, on its reference
// type. 0: the model does not fit there. Requires: 1 <= gpus <= max_gpus.
YARD_HD inline double speed_of(const SpeedColumns& s, int32_t job_class, int32_t type, int32_t gpus,
                               Tier tier, int32_t nodes, int32_t servers = 0,
                               Pattern by = Pattern::kNone) {
  const int32_t kind = kind_of(s, job_class, servers, by);
  if (kind < 0) return s.type_speed[type];
  return s.steps_per_s[speed_cell(s, kind, type, gpus, tier, nodes)] / s.class_reference[job_class];
}

// Returns by how much an iteration grows, in parts of it, when its exchange takes twice as long.
YARD_HD inline double exchange_share(const SpeedColumns& s, int32_t job_class, int32_t type,
                                     int32_t gpus, Tier tier, int32_t nodes, int32_t servers = 0,
                                     Pattern by = Pattern::kNone) {
  const int32_t kind = kind_of(s, job_class, servers, by);
  return kind < 0 ? 0 : s.exchange_share[speed_cell(s, kind, type, gpus, tier, nodes)];
}

// Returns what is left of the speed of `job_class` while `other` runs on the same GPUs: 1 all of
// it, 0 they may not.
YARD_HD inline double pair_rate(const SpeedColumns& s, int32_t job_class, int32_t other,
                                int32_t type) {
  const int32_t one = s.class_kind[job_class], two = s.class_kind[other];
  if (one < 0 || two < 0) return s.unmeasured_pair;
  return s.pair_rate[(static_cast<int64_t>(type) * s.num_kinds + one) * s.num_kinds + two];
}

// Returns bytes a second, each way, that the job puts on every link which its exchange spans, on
// average over links; times `nodes`: all that it moves between nodes. 0 where the model's size is
// not known. Requires: as speed_of().
YARD_HD inline int64_t link_bytes_per_s(const SpeedColumns& s, int32_t job_class, int32_t type,
                                        int32_t gpus, Tier tier, int32_t nodes, int32_t servers = 0,
                                        Pattern by = Pattern::kNone) {
  const int32_t kind = kind_of(s, job_class, servers, by);
  if (kind < 0 || nodes < 2) return 0;
  const double steps = s.worker_steps[kind] != 0 ? gpus : 1;
  const double iterations_per_s =
      s.steps_per_s[speed_cell(s, kind, type, gpus, tier, nodes)] / steps;
  const double copies = s.server_exchange[kind] != 0 ? static_cast<double>(gpus) / nodes : 1;
  const bool tree = s.kind_by != nullptr && s.tree_exchange[kind] != 0;
  const double times = tree ? 2.0 : 2.0 * (nodes - 1) / nodes;
  const double bytes = times * s.gradient_bytes[kind] * copies;
  return static_cast<int64_t>(iterations_per_s * bytes);
}

}  // namespace yard
