// The scheduler extender over a real socket: routes, tokens, metrics, and its latency.
#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "env/base/files/file.h"
#include "serving/net/server.h"
#include "serving/snapshot/json.h"
#include "tests/serving/kubernetes/kube_scheduler.h"
#include "tests/serving/requests.h"
#include "tests/serving/tls/authority.h"

namespace yard::testing::kube {
namespace {

using nlohmann::json;

ServerOptions extender_options() {
  ServerOptions options;
  options.listen = options.http = options.probes = "127.0.0.1:0";
  options.grace_s = 0;
  return options;
}

std::unique_ptr<httplib::Client> kept_connection(const std::string& address) {
  auto out = std::make_unique<httplib::Client>("http://" + address);
  out->set_keep_alive(true);
  out->set_tcp_nodelay(true);
  return out;
}

std::string args_of(const KubePod& pod, const std::vector<std::string>& names) {
  return json{{"Pod", pod_object(pod)}, {"Nodes", nullptr}, {"NodeNames", names}}.dump();
}

TEST(ExtenderServer, HasARouteForEachVerb) {
  const Server server(extender_options());
  auto client = kept_connection(server.http_address());
  const auto status = [&](const std::string& path, const std::string& body) {
    const auto answer = client->Post(path, body, "application/json");
    return answer ? answer->status : -1;
  };
  const std::string args = read_file("tests/data/kubernetes/args_names.json");
  EXPECT_EQ(status("/k8s/filter", args), 200);
  EXPECT_EQ(status("/k8s/prioritize", args), 200);
  EXPECT_EQ(status("/k8s/preempt", read_file("tests/data/kubernetes/preempt_victims.json")), 200);
  EXPECT_EQ(status("/k8s/state", R"({"items":[]})"), 200);
  EXPECT_EQ(status("/k8s/filter", "{"), 400);
  EXPECT_EQ(status("/k8s/bind", "{}"), 404);
  EXPECT_EQ(status("/k8s/", "{}"), 404);
  const auto got = client->Get("/k8s/filter");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 405);
  EXPECT_EQ(got->get_header_value("Allow"), "POST");
  const std::string metrics = client->Get("/metrics")->body;
  for (const char* line :
       {R"(yardmaster_extender_requests_total{code="200",verb="filter"} 1)",
        R"(yardmaster_extender_requests_total{code="400",verb="filter"} 1)",
        R"(yardmaster_extender_duration_seconds_count{verb="prioritize"} 1)",
        "yardmaster_extender_unknown_nodes_total 6", "yardmaster_extender_waiting_groups 0",
        "yardmaster_extender_expired_reservations_total 0"}) {
    EXPECT_NE(metrics.find(line), std::string::npos) << line << "\n" << metrics;
  }
  auto probes = kept_connection(server.probes_address());
  EXPECT_EQ(probes->Post("/k8s/filter", "", "application/json")->status, 404);
}

TEST(ExtenderServer, TheSampleConfigurationNamesTheRoutes) {
  const std::string sample = read_file("docs/examples/kubernetes/scheduler-config.yaml");
  for (const char* line : {"filterVerb: filter\n", "prioritizeVerb: prioritize\n",
                           "preemptVerb: preempt\n", "/k8s\n", "nodeCacheCapable: true"}) {
    EXPECT_NE(sample.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(sample.find("bindVerb"), std::string::npos) << "binding is left to kube-scheduler";
}

TEST(ExtenderServer, NeedsTheTokenOfDecisions) {
  const TempFolder temp;
  const std::string token = "decide-token-0123456789";
  ServerOptions options = extender_options();
  options.credentials.token_file = write_secret(temp.path() / "decide", token);
  const Server server(options);
  auto client = kept_connection(server.http_address());
  const std::string args = read_file("tests/data/kubernetes/args_names.json");
  for (const char* verb : {"filter", "prioritize", "preempt", "state"}) {
    const std::string path = std::string("/k8s/") + verb;
    EXPECT_EQ(client->Post(path, args, "application/json")->status, 401) << verb;
  }
  client->set_bearer_token_auth(token);
  EXPECT_EQ(client->Post("/k8s/filter", args, "application/json")->status, 200);
}

TEST(ExtenderServer, TakesTheStateFromSnapshots) {
  const Server server(extender_options());
  auto client = kept_connection(server.http_address());
  pb::DecideRequest snapshot = cluster_of(2);
  add_running(snapshot, "uid-old", 6, "n0");
  snapshot.set_state_version(1);
  ASSERT_EQ(client->Post("/v1/decide", to_json(snapshot), "application/json")->status, 200);
  const auto filtered = [&] {
    const auto answer =
        client->Post("/k8s/filter", args_of({"p", 4}, {"n0", "n1"}), "application/json");
    return json::parse(answer->body)["NodeNames"];
  };
  EXPECT_EQ(filtered(), json({"n1"}));
  // A delta: the job has ended.
  pb::DecideRequest delta;
  delta.set_time_s(10'001);
  delta.set_base_version(1);
  delta.set_state_version(2);
  delta.add_removed_jobs("uid-old");
  const auto answer = client->Post("/v1/decide", to_json(delta), "application/json");
  ASSERT_EQ(answer->status, 200) << answer->body;
  EXPECT_EQ(filtered(), json({"n0", "n1"})) << answer->body;
}

TEST(ExtenderServer, LargeBodiesAreBounded) {
  ServerOptions options = extender_options();
  options.max_message_mib = 1;
  const Server server(options);
  auto client = kept_connection(server.http_address());
  const auto answer =
      client->Post("/k8s/filter", std::string(size_t{2} << 20, ' '), "application/json");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 413);
}

struct Latencies {
  double p50 = 0, p99 = 0;  // in milliseconds
};

// Calls `ask` so many times.
Latencies latencies_of(int calls, const std::function<bool(int)>& ask) {
  std::vector<double> ms;
  for (int i = 0; i < calls; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(ask(i));
    const auto end = std::chrono::steady_clock::now();
    ms.push_back(std::chrono::duration<double, std::milli>(end - begin).count());
  }
  std::ranges::sort(ms);
  return {ms[ms.size() / 2], ms[ms.size() * 99 / 100]};
}

// Filter and prioritize with 256 node names on one connection, beside an endpoint that does
// nothing: on a shared machine the tail of both is mostly that of the machine. So the times are
// printed, and only a pause in each answer, such as that of delayed acknowledgements, fails.
TEST(ExtenderServer, AnswersWithinMilliseconds) {
  const Server server(extender_options());
  auto client = kept_connection(server.http_address());
  KubeScheduler cluster({.nodes = 256}, nullptr);
  std::vector<std::string> names;
  for (size_t i = 0; i < 256; ++i) names.push_back(cluster.name(i));
  ASSERT_EQ(client->Post("/k8s/state", cluster.list().dump(), "application/json")->status, 200);
  std::vector<std::string> bodies;
  for (const KubePod& pod : pods_in_turn(500)) bodies.push_back(args_of(pod, names));
  const Latencies ours = latencies_of(1000, [&](int i) {
    const auto answer = client->Post(i % 2 == 0 ? "/k8s/filter" : "/k8s/prioritize",
                                     bodies[static_cast<size_t>(i / 2)], "application/json");
    return answer && answer->status == 200;
  });
  const Latencies idle = latencies_of(1000, [&](int) {
    const auto answer = client->Get("/readyz");
    return answer && answer->status == 200;
  });
  std::printf("256 names: p50 %.3f ms, p99 %.3f ms; /readyz: p50 %.3f ms, p99 %.3f ms\n", ours.p50,
              ours.p99, idle.p50, idle.p99);
  EXPECT_LT(ours.p50, 20);
}

}  // namespace
}  // namespace yard::testing::kube
