// What an all-reduce costs under the alpha-beta model: a message of S bytes takes alpha + S / beta
// on a link. Evaluated on the host, when tables are made.
//   ring:          2 (n - 1) alpha + 2 (n - 1) / n S / beta         (Patarasuk and Yuan, JPDC 2009)
//   binomial tree: 2 ceil(log2 n) (alpha + S / beta)    (Thakur, Rabenseifner, Gropp, IJHPCA 2005)
//   two levels:    reduce-scatter and all-gather inside each node, between them a ring of the nodes
//                  in which a node's GPUs share its network link        (Horovod's and NCCL's way)
//   servers:       2 (alpha + k (N - 1) / N S / beta) for k workers on each of N nodes that also
//                  hold a server each: every worker sends and gets S, of which 1 / N stays
// The additions themselves are not counted.
#pragma once

#include <cstdint>
#include <span>

#include "env/trace/pattern.h"
#include "env/trace/profile.h"

namespace yard {

struct Link {
  double latency_s = 0;
  double bytes_per_s = 0;  // 0: nothing is known of it
};

// Each returns seconds, 0 for a single member. Requires: bytes_per_s > 0.
double ring_all_reduce_s(int32_t members, double bytes, const Link& link);
double tree_all_reduce_s(int32_t members, double bytes, const Link& link);
double two_level_all_reduce_s(int32_t nodes, int32_t node_gpus, double bytes, const Link& inside,
                              const Link& across);

// The exchange of a job on `nodes` with `node_gpus` each by its pattern: a ring or tree of all GPUs
// goes at the pace of the link across; what is not said, or a pipeline, counts as two levels.
double exchange_s(Pattern pattern, int32_t nodes, int32_t node_gpus, double bytes,
                  const Link& inside, const Link& across);

// What each node sends (and receives) while a ring over `nodes` goes round once: 2 (nodes - 1) /
// nodes S; as much crosses, each way, every link that the ring spans.
double ring_bytes_per_link(int32_t nodes, double bytes);

// Returns the link under which a ring inside one node comes closest, in squared relative error, to
// what was measured there. Requires: at least two sizes.
Link fit_inside(std::span<const MeasuredAllReduce> measured);

// The same for the link between nodes; what the two levels take inside is that of `inside`.
Link fit_across(std::span<const MeasuredAllReduce> measured, const Link& inside);

}  // namespace yard
