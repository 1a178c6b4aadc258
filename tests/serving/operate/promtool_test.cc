// Checks metrics and alert rules by Prometheus' own tool.
#include <gtest/gtest.h>
#include <httplib.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include "env/base/files/file.h"
#include "env/base/os/command.h"
#include "serving/log/drift_reports.h"
#include "serving/net/server.h"
#include "tests/serving/requests.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

const std::string kRules = "docs/examples/prometheus/yardmaster.rules.yml";

CommandResult promtool(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "promtool");
  return run_command(arguments, std::chrono::seconds(60));
}

class Promtool : public ::testing::Test {
 protected:
  void SetUp() override {
    YARD_NEEDS(promtool, promtool({"--version"}).ok(),
               "Prometheus' tool (scripts/install.sh prometheus)");
  }
  TempFolder temp_;
};

// The metrics of a server with everything that it can have.
std::string metrics_of_a_server(const std::filesystem::path& folder) {
  ServerOptions options;
  options.listen = options.http = "127.0.0.1:0";
  options.policy = "las";
  options.grace_s = 0;
  options.engine.budget_ms = 20'000;
  options.log.folder = folder / "log";
  std::filesystem::create_directories(options.log.folder);
  std::ofstream(drift_reports_path(options.log.folder)) << "{\"served\": \"las\"}\n";
  const Server server(options);
  httplib::Client http("http://" + server.http_address());
  EXPECT_EQ(http.Post("/v1/decide",
                      "{\"nodes\":[{\"name\":\"n\",\"gpus\":8}],\"jobs\":[{\"id\":"
                      "\"j\",\"state\":\"WAITING\",\"gpus\":1}]}",
                      "application/json")
                ->status,
            200);
  EXPECT_EQ(http.Post("/v1/decide",
                      "{\"nodes\":[{\"name\":\"n\",\"gpus\":8}],\"jobs\":[{\"id\":"
                      "\"odd\",\"state\":\"WAITING\",\"gpus\":1000000}]}",
                      "application/json")
                ->status,
            200);
  EXPECT_EQ(http.Post("/v1/decide", "{}", "application/json")->status, 400);
  return http.Get("/metrics")->body;
}

TEST_F(Promtool, FindsNoFaultInTheMetrics) {
  const std::string text = metrics_of_a_server(temp_.path());
  std::ofstream(temp_.path() / "metrics") << text;
  const std::string file = (temp_.path() / "metrics").string();
  const CommandResult checked =
      run_command({"sh", "-c", "promtool check metrics <" + file}, std::chrono::seconds(60));
  EXPECT_TRUE(checked.ok()) << checked.out << checked.err;
  EXPECT_EQ(checked.out + checked.err, "");
  // The tool does find faults.
  std::ofstream(temp_.path() / "metrics") << "# TYPE wait_ms counter\nwait_ms 1\n";
  EXPECT_FALSE(
      run_command({"sh", "-c", "promtool check metrics <" + file}, std::chrono::seconds(60)).ok());
}

TEST_F(Promtool, RulesPassTheirTests) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"check", "rules", kRules},
        {"check", "config", "docs/examples/prometheus/prometheus.yml"},
        {"test", "rules", "docs/examples/prometheus/yardmaster.rules.test.yml"}}) {
    const CommandResult result = promtool(arguments);
    EXPECT_TRUE(result.ok()) << result.out << result.err;
  }
}

std::set<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::set<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    out.insert(at->size() > 1 ? (*at)[1].str() : at->str());
  }
  return out;
}

TEST(Alerts, HaveATestEach) {
  const auto alerts = matches(read_file(kRules), "alert: (\\w+)");
  EXPECT_GE(alerts.size(), 16U);
  EXPECT_EQ(alerts, matches(read_file("docs/examples/prometheus/yardmaster.rules.test.yml"),
                            "alertname=\"(\\w+)\""));
}

// Metrics that rules and dashboard use are the server's: a renamed one would be silence.
TEST(Alerts, UseMetricsOfTheServer) {
  const TempFolder temp;
  std::set<std::string> known = {"yardmaster_certificate_expiry_timestamp_seconds",
                                 "yardmaster_certificate_reloads_total",
                                 "yardmaster_unauthenticated_requests_total"};  // with TLS, tokens
  for (const std::string& name :
       matches(metrics_of_a_server(temp.path()), "# TYPE ((?:yardmaster|process)_\\w+)")) {
    known.insert(name);
    for (const char* end : {"_bucket", "_sum", "_count"}) known.insert(name + end);
  }
  for (const char* file : {kRules.c_str(), "docs/examples/grafana/yardmaster.json"}) {
    const std::string text = std::regex_replace(read_file(file), std::regex("#[^\n]*"), "");
    const auto used = matches(text, "((?:yardmaster|process)_\\w+)");
    EXPECT_GE(used.size(), 15U) << file;
    for (const std::string& name : used) EXPECT_TRUE(known.contains(name)) << file << ": " << name;
  }
}

}  // namespace
}  // namespace yard::testing
