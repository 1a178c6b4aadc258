// The server lets the fallback decide on workloads far outside of what a checkpoint met in
// training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include "policies/learned/checkpoint.h"
#include "policies/policy.h"
#include "serving/net/admin_client.h"
#include "serving/net/client.h"
#include "serving/net/server.h"
#include "serving/snapshot/export.h"
#include "serving/snapshot/workload.h"
#include "tests/serving/engine_calls.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Four nodes of 8 GPUs, one job that runs, and `waiting` jobs of one GPU.
pb::DecideRequest queue_of(int waiting) {
  pb::DecideRequest request = cluster_of(4);
  add_running(request, "runs", 8, "n0");
  for (int i = 0; i < waiting; ++i) {
    add_waiting(request, "waits-" + std::to_string(i), 1).set_submit_s(9'000);
  }
  return request;
}

// Writes a checkpoint whose training met queues of 4 to 64 jobs on this cluster.
fs::path checkpoint_with_envelope(const fs::path& folder) {
  write_checkpoint(folder, 1);
  Envelope envelope;
  for (const int waiting : {4, 64}) envelope.add(workload_of(Snapshot(queue_of(waiting))));
  save_envelope(envelope, folder);
  return folder;
}

TEST(OutOfDistribution, TheFallbackDecidesFarOutsideOfTheTraining) {
  const TempFolder temp;
  EngineOptions options;
  options.breaker = {.at_least = 1, .open_s = 3600};
  options.budget_ms = 60'000;
  EngineFixture fixture("checkpoint:" + checkpoint_with_envelope(temp.path() / "a").string(),
                        options);
  const pb::DecideResponse inside = ask_engine(fixture.engine, queue_of(30));
  EXPECT_EQ(pb::Source_Name(inside.source()), "POLICY") << inside.detail();
  EXPECT_EQ(ask_engine(fixture.engine, queue_of(250)).source(), pb::POLICY) << "within tolerance";
  for (int i = 0; i < 3; ++i) {
    const pb::DecideResponse outside = ask_engine(fixture.engine, queue_of(260));
    EXPECT_EQ(pb::Source_Name(outside.source()), "HEURISTIC");
    EXPECT_EQ(pb::Reason_Name(outside.reason()), "OUT_OF_DISTRIBUTION");
    EXPECT_EQ(outside.detail(),
              "waiting_per_gpu is 8.125, beyond 0 to 2 in training by more than a factor of 4");
    EXPECT_EQ(outside.decided_by(), "las");
    EXPECT_GT(outside.actions_size(), 0);
  }
  EXPECT_EQ(ask_engine(fixture.engine, queue_of(30)).source(), pb::POLICY)
      << "the policy has not failed: its breaker stays closed";
  // Old jobs are outside, too: seconds have no relation to the size of the cluster.
  pb::DecideRequest old = queue_of(30);
  old.mutable_jobs(5)->set_submit_s(0);
  EXPECT_THAT(ask_engine(fixture.engine, old).detail(),
              HasSubstr("longest_wait_s is 10000, beyond 0 to 1000"));
}

TEST(OutOfDistribution, IsOffByOption) {
  const TempFolder temp;
  EngineOptions options;
  options.envelope_tolerance = 0;
  options.budget_ms = 60'000;
  EngineFixture fixture("checkpoint:" + checkpoint_with_envelope(temp.path() / "a").string(),
                        options);
  EXPECT_EQ(ask_engine(fixture.engine, queue_of(300)).source(), pb::POLICY);
}

TEST(OutOfDistribution, AnEnvelopeThatIsAddedLaterGoesIntoService) {
  const TempFolder temp;
  const fs::path folder = temp.path() / "a";
  write_checkpoint(folder, 1);
  EngineFixture fixture("checkpoint:" + folder.string(), {.budget_ms = 60'000});
  const std::string digest = fixture.models.first_model_status().current.digest;
  EXPECT_EQ(ask_engine(fixture.engine, queue_of(300)).source(), pb::POLICY) << "no envelope yet";
  EXPECT_THAT(fixture.models.list().at(0).current().envelope(), HasSubstr("no envelope"));
  checkpoint_with_envelope(folder);
  fixture.models.reload_if_changed();
  EXPECT_EQ(fixture.models.first_model_status().current.digest, digest)
      << "it has the same weights";
  EXPECT_EQ(fixture.models.first_model_status().loads, 2u);
  EXPECT_EQ(pb::Reason_Name(ask_engine(fixture.engine, queue_of(300)).reason()),
            "OUT_OF_DISTRIBUTION");
  EXPECT_EQ(fixture.models.list().at(0).current().envelope(),
            "envelope of 2 decisions in training");
}

TEST(OutOfDistribution, StatusAndMetricsTellOfIt) {
  const TempFolder temp;
  ServerOptions options;
  options.listen = options.admin = options.http = "127.0.0.1:0";
  options.policy = "checkpoint:" + checkpoint_with_envelope(temp.path() / "a").string();
  options.engine.budget_ms = 60'000;
  options.grace_s = 0;
  Server server(options);
  Client client({.to = {.servers = {server.address()}}});
  EXPECT_EQ(client.decide(queue_of(300), kLongTime).reason(), pb::OUT_OF_DISTRIBUTION);
  const AdminAnswer status =
      call_admin({.servers = {server.admin_address()}}, AdminCall::kStatus, kLongTime).at(0);
  EXPECT_EQ(status.status.envelope(), "envelope of 2 decisions in training");
  httplib::Client http("http://" + server.http_address());
  EXPECT_THAT(http.Get("/metrics")->body,
              HasSubstr("yardmaster_decisions_total{model=\"a\",reason=\"OUT_OF_DISTRIBUTION\","
                        "source=\"HEURISTIC\"} 1"));
}

// Training sees simulated states and the server snapshots: both must come to the same figures.
TEST(OutOfDistribution, ASnapshotHasTheFiguresOfItsState) {
  const std::string cluster = "3x8:v100+2x4:k80";
  const ClusterSpec spec = load_cluster(cluster);
  const auto policy = PolicyRegistry::make("las", {});
  const Scene scene(cluster, random_jobs(Rng(3), {.count = 60}));
  SceneRunner runner(scene, *policy);
  int compared = 0;
  while (runner.advance()) {
    const pb::DecideRequest request =
        to_request(spec, scene.jobs(), scene.fixed(), runner.state(), {});
    const WorkloadFigures of_view = workload_of(runner.view());
    const WorkloadFigures of_snapshot = workload_of(Snapshot(request));
    ASSERT_EQ(of_view.has_jobs, of_snapshot.has_jobs);
    for (int f = 0; f < kNumWorkloadFigures; ++f) {
      ASSERT_NEAR(of_view.values[f], of_snapshot.values[f], 1e-6)
          << workload_figure_name(static_cast<WorkloadFigure>(f)) << " at " << request.time_s();
    }
    ++compared;
    if (!runner.decide()) break;
  }
  EXPECT_GT(compared, 60);
}

}  // namespace
}  // namespace yard::testing
