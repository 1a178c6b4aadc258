// Duration of an all-reduce under the alpha-beta model: a message of S bytes takes alpha + S / beta
// on a link. Evaluated on the CPU, when speed tables are built. Additions take no time.
//   ring:          2 (n - 1) alpha + 2 (n - 1) / n S / beta         (Patarasuk and Yuan, JPDC 2009)
//   binomial tree: 2 ceil(log2 n) (alpha + S / beta)    (Thakur, Rabenseifner, Gropp, IJHPCA 2005)
//   two levels:    reduce-scatter and all-gather inside each node, between them a ring of the nodes
//                  in which a node's GPUs share its network link   (as in Horovod and NCCL)
//   servers:       2 (alpha + k (N - 1) / N S / beta) for k workers on each of N nodes with one
//                  server each: every worker sends and receives S, and 1 / N of it stays local
#pragma once

#include <cstdint>
#include <span>

#include "env/trace/core/pattern.h"
#include "env/trace/profiles/profile.h"

namespace yard {

struct Link {
  double latency_s = 0;
  double bytes_per_s = 0;  // 0: unknown link
};

// These functions return the duration in seconds; 0 for a single member. Requires: bytes_per_s > 0.
double ring_all_reduce_s(int32_t members, double bytes, const Link& link);
double tree_all_reduce_s(int32_t members, double bytes, const Link& link);
double two_level_all_reduce_s(int32_t nodes, int32_t node_gpus, double bytes, const Link& inside,
                              const Link& across);

// Returns the duration of a job's exchange on `nodes` nodes with `node_gpus` GPUs each. On several
// nodes a ring or tree of all GPUs uses link `across`. kNone and kPipeline are timed as a two-level
// all-reduce.
double gradient_exchange_s(Pattern pattern, int32_t nodes, int32_t node_gpus, double bytes,
                           const Link& inside, const Link& across);

// Returns the bytes which each node sends (and receives) in one ring all-reduce of `bytes`: 2
// (nodes - 1) / nodes bytes. Every link of the ring carries this number of bytes each way.
double ring_bytes_per_link(int32_t nodes, double bytes);

// Fits the link inside a node to ring all-reduces measured inside a node, by squared relative
// error. Requires: `measured` has at least two sizes.
Link fit_link_inside_node(std::span<const MeasuredAllReduce> measured);

// Fits the link between nodes to two-level all-reduces, whose links inside nodes are `inside`.
Link fit_link_between_nodes(std::span<const MeasuredAllReduce> measured, const Link& inside);

}  // namespace yard
