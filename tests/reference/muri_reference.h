// A second implementation of Muri's shortest and shortest-gpu: lists are walked and sorted at every
// event. Shares no code with the simulator. Compared with it in tests/env/rulesets/muri_test.cc.
#pragma once

#include <string>
#include <vector>

namespace yard::reference {

struct MuriJob {
  double submit_s = 0;
  int gpus = 0;
  double iterations = 0;
  double iteration_ms = 0;
  std::string model;
};

struct MuriOutcome {
  double start_s = -1;
  double end_s = -1;
  int preemptions = 0;
  int starts = 0;
};

// Requires: jobs by submission; every one fits the cluster.
std::vector<MuriOutcome> muri(const std::vector<MuriJob>& jobs, int total_gpus, bool by_gpus);

}  // namespace yard::reference
