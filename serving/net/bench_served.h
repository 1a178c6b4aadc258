// Benchmarks of a server: the latency of a decision against a gRPC echo of the same messages, with
// alternating calls in one process; and how many decisions it makes in time under load.
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
  // As the server measured them: waiting to be read, reading, the policy alone, the guard, and from
  // request to answer.
  Percentiles queue, read, policy, guard, total;
};

// A cluster of 8-GPU nodes, all busy except one, with `waiting` jobs in the queue.
pb::DecideRequest busy_cluster(int nodes, int waiting);

// `policy`: a spec as for open_policy().
ServedBench bench_served(const std::string& policy, const pb::DecideRequest& request, int calls);

// Answers to callers which each send their next request when they have an answer, or at the
// deadline.
struct ServedLoad {
  int callers = 0;
  double seconds = 0;
  // Answers in time, by source; and calls without one.
  int by_policy = 0, by_heuristic = 0, by_nothing = 0, late = 0;
};

// Each caller has a connection of its own and names another cluster. An empty policy: a gRPC echo,
// which shows what callers and transport leave of the machine; its answers count as the policy's.
ServedLoad bench_load(const std::string& policy, const pb::DecideRequest& request, int callers,
                      double deadline_ms, double seconds);

}  // namespace yard
