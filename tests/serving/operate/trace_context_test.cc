// Checks JSON messages, and the trace context of requests on its way through the server.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "serving/net/traceparent.h"
#include "serving/snapshot/json.h"
#include "tests/serving/child.h"
#include "tests/serving/log/logs.h"
#include "tests/serving/requests.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard::testing {
namespace {

const std::string kSampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const std::string kUnsampled = "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

TEST(Traceparent, IsReadAsW3CDefinesIt) {
  EXPECT_EQ(valid_traceparent(kSampled), kSampled);
  EXPECT_EQ(valid_traceparent(kUnsampled), kUnsampled);
  EXPECT_TRUE(is_sampled(kSampled));
  EXPECT_FALSE(is_sampled(kUnsampled));
  EXPECT_TRUE(is_sampled(kSampled.substr(0, 53) + "ff"));
  EXPECT_FALSE(is_sampled(kSampled.substr(0, 53) + "fe"));
  EXPECT_EQ(valid_traceparent("01" + kSampled.substr(2) + "-more"), "01" + kSampled.substr(2));
  const std::string trace(32, '0'), span(16, '0');
  for (const std::string& bad :
       {std::string(), kSampled.substr(1), kSampled + "-more", kSampled + "0",
        "ff" + kSampled.substr(2), "00-" + trace + kSampled.substr(35),
        kSampled.substr(0, 36) + span + "-01", "00-0AF7" + kSampled.substr(7),
        kSampled.substr(0, 53) + "0g", "00_" + kSampled.substr(3), std::string(55, '-')}) {
    EXPECT_EQ(valid_traceparent(bad), "") << bad;
  }
}

// Asks with that metadata. Returns the answer's decision id, and the context that came back with
// it.
std::pair<std::string, std::string> ask(const std::string& address,
                                        const std::string& traceparent) {
  const auto stub =
      pb::PolicyService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.AddMetadata(kTraceparent, traceparent);
  pb::DecideResponse answer;
  const grpc::Status status = stub->Decide(&context, full_cluster(), &answer);
  EXPECT_TRUE(status.ok()) << status.error_message();
  const auto& metadata = context.GetServerInitialMetadata();
  const auto back = metadata.find(kTraceparent);
  return {answer.decision_id(),
          back == metadata.end() ? "" : std::string(back->second.data(), back->second.size())};
}

TEST(TraceContext, GoesToTheAnswerTheLogLineAndTheDecisionLog) {
  const TempFolder temp;
  const std::string log = temp.path() / "log";
  Child server(temp.path(), {"serve", "--policy", "las", "--listen", "127.0.0.1:0", "--http",
                             "127.0.0.1:0", "--grace", "0", "--json", "--budget-ms", "20000",
                             "--log-format", "json", "--decision-log", log});
  const nlohmann::json at = server.addresses();
  const auto [id, back] = ask(at.at("grpc"), kSampled);
  EXPECT_EQ(back, kSampled);
  EXPECT_EQ(ask(at.at("grpc"), kUnsampled).second, kUnsampled);
  EXPECT_EQ(ask(at.at("grpc"), "garbage").second, "");
  httplib::Client http("http://" + at.at("http").get<std::string>());
  const auto posted = http.Post("/v1/decide", {{kTraceparent, kSampled}}, to_json(full_cluster()),
                                "application/json");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->get_header_value(kTraceparent), kSampled);
  const auto traced = [&] {
    const std::string err = server.err();
    size_t count = 0;
    for (size_t at = 0; (at = err.find(kSampled, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  while (traced() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.err();

  std::istringstream lines(server.err());
  int decisions = 0;
  bool drained = false;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_THAT(json.at("time").get<std::string>(),
                ::testing::MatchesRegex("20..-..-..T..:..:..\\....Z"));
    EXPECT_EQ(json.at("level"), "info");
    drained |= json.at("message") == "draining for 0 s";
    if (json.at("message") != "decision") continue;
    EXPECT_EQ(json.at("traceparent"), kSampled);
    EXPECT_EQ(json.at("source"), "POLICY");
    EXPECT_EQ(json.at("actions"), 2);
    if (decisions++ == 0) {
      EXPECT_EQ(json.at("decision_id"), id);
    }
  }
  EXPECT_EQ(decisions, 2) << "only of requests whose caller records the trace";
  EXPECT_TRUE(drained);

  std::vector<std::string> logged;
  for (const pb::LogRecord& record : read_log(log)) {
    if (record.has_decision()) logged.push_back(record.decision().traceparent());
  }
  EXPECT_EQ(logged, (std::vector<std::string>{kSampled, kUnsampled, "", kSampled}));
}

TEST(TraceContext, IsInTheLineOfTextToo) {
  const TempFolder temp;
  Child server(temp.path(), {"serve", "--policy", "las", "--listen", "127.0.0.1:0", "--grace", "0",
                             "--json", "--budget-ms", "20000"});
  const auto [id, back] = ask(server.addresses().at("grpc"), kSampled);
  const std::string says = "decision " + id + ": source POLICY (las), reason NONE, 2 actions, ";
  while (server.err().find(says) == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_THAT(server.err(), ::testing::HasSubstr("traceparent " + kSampled));
}

}  // namespace
}  // namespace yard::testing
