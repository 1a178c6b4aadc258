// Our own rules a second time: slow, obvious, every GPU an entry of a list that is walked from the
// front. A preempted job saves while its GPUs stay held, one that ran before restores before it
// goes on, a start waits for GPUs that are still being vacated. Shares no code with the simulator;
// held against it in tests/policies/default_reference_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace yard::reference {

struct MicrosJob {
  int64_t submit_us = 0;
  int64_t run_us = 0;
  int gpus = 0;
};

struct PlainNode {
  int gpus = 0;
  double speed = 1;
};

struct PlainCosts {
  int64_t save_us = 0;
  int64_t restore_us = 0;  // up to `small_gpus`
  int64_t restore_large_us = 0;
  int small_gpus = 0;
};

struct MicrosOutcome {
  int64_t start_us = -1;
  int64_t end_us = -1;
  int preemptions = 0;
  int starts = 0;
};

// Policies: fifo, backfill, sjf, srtf, las, all with the placement first-fit. Requires: jobs by
// submission, none larger than the cluster.
std::vector<MicrosOutcome> play_default(const std::vector<MicrosJob>& jobs,
                                        const std::vector<PlainNode>& nodes,
                                        const PlainCosts& costs, const std::string& policy);

}  // namespace yard::reference
