// Benchmark: latency of a served decision against a gRPC echo of the same messages, with
// alternating calls in one process.
#pragma once

#include <string>

#include "serving/snapshot/messages.h"

namespace yard {

struct Percentiles {
  double p50_ms = 0, p99_ms = 0;
};

struct ServedBench {
  Percentiles served, echo;
  int calls = 0;      // decisions, and the same number of echoes
  int by_policy = 0;  // responses with source POLICY
  size_t request_bytes = 0, response_bytes = 0;
  Percentiles policy;  // the policy alone, as the server measured it
};

// A cluster of 8-GPU nodes, all busy except one, with `waiting` jobs in the queue.
pb::DecideRequest busy_cluster(int nodes, int waiting);

// `policy`: a spec as for open_policy().
ServedBench bench_served(const std::string& policy, const pb::DecideRequest& request, int calls);

}  // namespace yard
