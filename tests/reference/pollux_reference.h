// A second implementation of the Tiresias policy of Pollux' simulator: every job and round is
// walked, with one node entry per GPU. Shares no code with the simulator. Compared with it in
// tests/env/rulesets/pollux_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace yard::reference {

struct PolluxJob {
  int64_t submit_s = 0;
  int gpus = 0;
  int completion_epoch = 0;
  std::vector<double> next_progress;  // by epoch
};

struct PolluxOutcome {
  int64_t start_s = -1;
  int64_t completion_s = -1;
  int starts = 0;
  int stops = 0;
};

// goodput(job, placement, epoch); a placement is "4+2".
using Goodput = std::function<double(int, const std::string&, int)>;

// Requires: jobs by submission, each at most as large as the cluster.
std::vector<PolluxOutcome> pollux(const std::vector<PolluxJob>& jobs,
                                  const std::vector<int>& node_gpus, const Goodput& goodput,
                                  int64_t round_s = 60);

}  // namespace yard::reference
