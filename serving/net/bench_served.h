// Benchmarks of a policy server: the latency of a decision compared with a gRPC echo of the same
// messages, called in turn in one process, and the number of decisions in time under load.
#pragma once

#include <string>

#include "serving/snapshot/messages.h"

namespace yard {

struct Percentiles {
  double p50_ms = 0, p99_ms = 0;
};

struct ServedBench {
  Percentiles served, echo;
  int calls = 0;      // number of decisions, equal to the number of echoes
  int by_policy = 0;  // number of responses with source POLICY
  // Bytes of the last request to the server, of its whole snapshot, and of the response.
  size_t request_bytes = 0, snapshot_bytes = 0, response_bytes = 0;
  Percentiles delta;  // time that the client takes to make a delta
  // Times measured by the server: waiting to be read, reading, the policy alone, the guard, and all
  // from request to answer.
  Percentiles queue, read, policy, guard, total;
};

// Returns a cluster of 8-GPU nodes, all busy except one, with `waiting` jobs in the queue.
pb::DecideRequest busy_cluster(int nodes, int waiting);

// Lets a second pass on a busy cluster. A job of 8 GPUs ends, one that waits takes its place, and
// another is submitted.
void advance_one_second(pb::DecideRequest& cluster);

// Measures the latency of `policy`, which is given as for open_policy(). A second of the cluster's
// time passes between calls. `deltas`: whether the server gets deltas; the echo gets whole
// snapshots in either case.
ServedBench bench_served(const std::string& policy, const pb::DecideRequest& request, int calls,
                         bool deltas = false);

// Numbers of answers to callers, each of which sends its next request when it has an answer or its
// deadline has passed.
struct ServedLoad {
  int callers = 0;
  double seconds = 0;
  // Numbers of answers in time by source, and `late`: calls without an answer in time.
  int by_policy = 0, by_heuristic = 0, by_nothing = 0, late = 0;
};

// Measures the server at `address`. Each caller has its own connection and cluster.
ServedLoad bench_load(const std::string& address, const pb::DecideRequest& request, int callers,
                      double deadline_ms, double seconds);

// Measures a server of `policy` in this process.
ServedLoad bench_in_process_load(const std::string& policy, const pb::DecideRequest& request,
                                 int callers, double deadline_ms, double seconds);

// Measures a gRPC echo, which shows the load of callers and transport alone. Its answers count as
// `by_policy`.
ServedLoad bench_echo_load(const pb::DecideRequest& request, int callers, double deadline_ms,
                           double seconds);

}  // namespace yard
