// Deltas: a stream of them gives the same states as full snapshots, and says when one is missing.
#include "serving/snapshot/delta.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "env/base/core/error.h"
#include "serving/engine/state_store.h"
#include "serving/snapshot/export.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

// Times as they are read: in microseconds.
pb::DecideRequest rounded(pb::DecideRequest request) {
  const auto round = [](double seconds) { return std::round(seconds * 1e6) * 1e-6; };
  for (pb::Job& job : *request.mutable_jobs()) {
    job.set_attained_s(round(job.attained_s()));
    if (job.has_worked_s()) job.set_worked_s(round(job.worked_s()));
  }
  return request;
}

TEST(Delta, StreamGivesTheStatesOfASimulation) {
  const std::string cluster = "2x8:v100+3x4:k80";
  const ClusterSpec spec = load_cluster(cluster);
  const Scene scene(cluster, random_jobs(Rng{3}, {.count = 60, .mean_gap_s = 60}));
  const auto policy = make_policy("las limit_1_gpu_s=400 limit_2_gpu_s=2000");
  SceneRunner runner(scene, *policy);
  std::shared_ptr<pb::DecideRequest> state;
  uint64_t version = 0;
  size_t bytes = 0, full_bytes = 0;
  while (runner.step()) {
    pb::DecideRequest full = to_request(spec, scene.jobs(), scene.fixed(), runner.state(), {});
    full.set_state_version(++version);
    if (state == nullptr) {
      state = std::make_shared<pb::DecideRequest>(full);
      continue;
    }
    const pb::DecideRequest delta = delta_between(*state, full);
    bytes += delta.ByteSizeLong();
    full_bytes += full.ByteSizeLong();
    state = apply_delta(*state, delta);
    ASSERT_EQ(rounded(*state).DebugString(), rounded(full).DebugString());
  }
  EXPECT_LT(bytes, full_bytes);
}

TEST(Delta, ReplacesAddsAndRemoves) {
  pb::DecideRequest base = cluster_of(2);
  add_running(base, "r", 8, "n0");
  add_waiting(base, "w", 4);
  add_waiting(base, "gone", 4);
  base.mutable_costs()->set_save_s(7);
  pb::DecideRequest delta;
  delta.set_time_s(base.time_s() + 30);
  delta.add_removed_jobs("gone");
  delta.add_removed_jobs("never there");
  add_waiting(delta, "w", 2);
  add_waiting(delta, "x", 1);
  const auto after = apply_delta(base, delta);
  ASSERT_EQ(after->jobs_size(), 3);
  EXPECT_EQ(after->jobs(0).id(), "r");
  EXPECT_EQ(after->jobs(0).attained_s(), base.jobs(0).attained_s() + 30);  // it ran on
  EXPECT_EQ(after->jobs(1).gpus(), 2U);
  EXPECT_EQ(after->jobs(2).id(), "x");
  EXPECT_EQ(after->nodes_size(), 2);
  EXPECT_EQ(after->costs().save_s(), 7);
  add_waiting(delta, "x", 1);
  EXPECT_THROW(apply_delta(base, delta), InputError);
}

class States : public ::testing::Test {
 protected:
  static StateStore::State request(uint64_t version, std::optional<uint64_t> base = {}) {
    auto out = std::make_shared<pb::DecideRequest>(base ? pb::DecideRequest() : cluster_of(1));
    out->set_time_s(10'000);
    out->set_cluster("lab");
    out->set_state_version(version);
    if (base) out->set_base_version(*base);
    return out;
  }
  StateStore::State see(const StateStore::State& sent) {
    const StateStore::State after = store.state_after(sent, "peer");
    store.keep(after, "peer");
    return after;
  }
  StateStore store{2, size_t{1} << 20};
};

TEST_F(States, FollowDeltas) {
  see(request(1));
  EXPECT_EQ(see(request(5, 1))->nodes_size(), 1);
  EXPECT_EQ(see(request(6, 5))->nodes_size(), 1);
}

TEST_F(States, SayWhichVersionIsMissing) {
  const auto missing = [&](const StateStore::State& sent) {
    try {
      see(sent);
      return std::string();
    } catch (const MissingState& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(missing(request(2, 1)).find("no state of the cluster"), std::string::npos);
  see(request(3));
  EXPECT_NE(missing(request(6, 5)).find("has version 3, not version 5"), std::string::npos);
  EXPECT_EQ(missing(request(4, 3)), "");
}

TEST_F(States, RefuseWhatContradictsItself) {
  see(request(3));
  EXPECT_THROW(see(request(3, 3)), InputError);
  EXPECT_THROW(see(request(2, 3)), InputError);
}

TEST_F(States, AreBounded) {
  for (const char* cluster : {"a", "b", "c"}) {
    auto full = std::make_shared<pb::DecideRequest>(*request(1));
    full->set_cluster(cluster);
    see(full);
  }
  auto delta = std::make_shared<pb::DecideRequest>(*request(2, 1));
  delta->set_cluster("c");
  EXPECT_EQ(see(delta)->nodes_size(), 1);
  delta->set_cluster("a");  // was not used for longest
  EXPECT_THROW(see(delta), MissingState);
}

}  // namespace
}  // namespace yard::testing
