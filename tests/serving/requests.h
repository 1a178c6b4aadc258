// Requests, faulty policies and checkpoints that the tests of the server share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "env/base/core/rng.h"
#include "serving/snapshot/messages.h"
#include "tests/support/scene.h"

namespace yard::testing {

// Nodes n0, n1, ... of 8 GPUs at time 10,000.
pb::DecideRequest cluster_of(int nodes);

pb::Job& add_waiting(pb::DecideRequest& request, const std::string& id, uint32_t gpus);
// Running for 3,600 s on the first GPUs that are free on `node`, by count.
pb::Job& add_running(pb::DecideRequest& request, const std::string& id, uint32_t gpus,
                     const std::string& node);

// One running job that las would preempt for the one that waits. Greedy does nothing.
pb::DecideRequest full_cluster();

// The decision of a player's last plan in the words of the request that `to_request` makes.
pb::DecideResponse told(const Player& player, const Scene& scene, const ClusterSpec& spec);

// Actions, one a line, and the wake-up.
std::string lines_of(const pb::DecideResponse& response);

// The policies "test-hangs" (until release_hanging(), or for ever), "test-throws",
// "test-not-finite" and "test-illegal" are registered by this file.
void hang_from_now_on();
void release_hanging();

// A folder that is removed at the end.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Writes a pilot with random weights, golden states and all. Other seeds are other versions.
void write_checkpoint(const std::filesystem::path& folder, uint64_t seed);

}  // namespace yard::testing
