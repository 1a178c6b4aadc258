#include "tests/serving/log/simulated_log.h"

#include <grpcpp/grpcpp.h>

#include "env/trace/formats/load_trace.h"
#include "serving/net/server.h"
#include "serving/snapshot/export.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard::testing {

std::vector<Job> habit_jobs(const std::string& cluster, int count, uint64_t seed) {
  return load_trace(
             "synthetic:habits",
             {.seed = seed, .jobs = count, .cluster_gpus = load_cluster(cluster).total_gpus()})
      .jobs;
}

int log_simulation(const std::filesystem::path& folder, const std::string& policy,
                   const std::string& cluster, const std::vector<Job>& jobs, double until_s) {
  ServerOptions options;
  options.listen = options.http = "127.0.0.1:0";
  options.policy = policy;
  options.engine.budget_ms = 20'000;
  options.engine.preemptions = {.gpu_share = 1, .per_job = 1'000'000, .min_run_s = 0};
  options.grace_s = 0;
  options.log.folder = folder;
  Server server(options);
  const auto stub = pb::PolicyService::NewStub(
      grpc::CreateChannel(server.address(), grpc::InsecureChannelCredentials()));
  const ClusterSpec spec = load_cluster(cluster);
  const Scene scene(cluster, jobs);
  const auto own = PolicyRegistry::make(policy, {});
  SceneRunner runner(scene, *own);
  std::vector<EndedJob> finished;
  int asked = 0;
  while (runner.advance()) {
    const SimState& s = runner.state();
    if (1e-6 * static_cast<double>(s.head->now_us) > until_s) break;
    for (int32_t i = 0; i < s.head->num_changed; ++i) {
      const int32_t slot = s.changed[i];
      if (s.phase[slot] != Phase::kDone) continue;
      finished.push_back({s.job[slot], s.head->now_us, runner.view().attained_us(slot)});
    }
    grpc::ClientContext context;
    pb::DecideResponse answer;
    const grpc::Status status =
        stub->Decide(&context, to_request(spec, scene.jobs(), scene.fixed(), s, finished), &answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
    ++asked;
    if (!runner.decide()) ADD_FAILURE() << "no decision";
  }
  server.shut_down_gracefully();
  return asked;
}

}  // namespace yard::testing
