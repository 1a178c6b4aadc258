// Requests, faulty policies and checkpoints that the tests of the server share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "env/base/core/rng.h"
#include "serving/snapshot/messages.h"
#include "tests/support/scene.h"

namespace yard::testing {

// Nodes n0, n1, ... of 8 GPUs at 10,000 s.
pb::DecideRequest cluster_of(int nodes);

pb::Job& add_waiting(pb::DecideRequest& request, const std::string& id, uint32_t gpus);
// Adds a job that has run for 3,600 s on `node`. Its placement has a GPU count, no GPU ids.
pb::Job& add_running(pb::DecideRequest& request, const std::string& id, uint32_t gpus,
                     const std::string& node);

// One running job, which las would preempt for the waiting one. Greedy does nothing.
pb::DecideRequest full_cluster();

// A runner's last plan as the response to the request that `to_request` makes.
pb::DecideResponse response_of(const SceneRunner& runner, const Scene& scene,
                               const ClusterSpec& spec);

// The actions, one per line, and the wake-up.
std::string lines_of(const pb::DecideResponse& response);

// Control the policy "test-hangs", which blocks until stop_hanging(). This file also registers
// "test-throws", "test-not-finite", "test-illegal" and "test-idles", which passes for learned.
void start_hanging();
void stop_hanging();

// A temporary folder, which the destructor removes.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Writes a checkpoint of `dispatcher` with random weights and golden states. The seed sets both.
void write_checkpoint(const std::filesystem::path& folder, uint64_t seed);

}  // namespace yard::testing
