// What a served decision costs beside a gRPC echo of the same messages: same process, same run,
// calls taken in turns.
#pragma once

#include <string>

#include "serving/messages.h"

namespace yard {

struct Percentiles {
  double p50_ms = 0, p99_ms = 0;
};

struct ServedBench {
  Percentiles served, echo;
  int calls = 0;      // of each
  int by_policy = 0;  // answers whose source was the policy
  size_t request_bytes = 0, response_bytes = 0;
  Percentiles policy;  // the policy alone, as the server measured it
};

// A cluster of 8-GPU nodes that is full but for one node, and as many waiting jobs as nodes.
pb::DecideRequest busy_cluster(int nodes, int waiting);

// `policy` as open_policy() knows it.
ServedBench bench_served(const std::string& policy, const pb::DecideRequest& request, int calls);

}  // namespace yard
