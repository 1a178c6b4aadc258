// The server over real sockets: calls, streams, health, reflection, admin, HTTP, shutdown.
#include "serving/net/server.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/core/version.h"
#include "env/base/text/text.h"
#include "serving/snapshot/json.h"
#include "tests/serving/requests.h"
#include "yardmaster/v1/admin.grpc.pb.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard::testing {
namespace {

ServerOptions options_for(const std::string& policy) {
  ServerOptions options;
  options.listen = options.http = options.admin = "127.0.0.1:0";
  options.policy = policy;
  options.engine.budget_ms = 10'000;
  options.grace_s = 0;
  return options;
}

std::shared_ptr<grpc::Channel> channel_to(const std::string& address) {
  return grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
}

// Calls any method with raw bytes, since health and reflection have no generated code here.
std::string call_bytes(const std::string& address, const std::string& method,
                       const std::string& request, grpc::Status& status) {
  grpc::GenericStub stub(channel_to(address));
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  const grpc::Slice slice(request);
  const grpc::ByteBuffer buffer(&slice, 1);
  // Reflection takes a stream, here of one message. A unary call looks the same on the wire.
  auto call = stub.PrepareCall(&context, method, &queue);
  void* tag;
  bool ok;
  const auto wait = [&] { return queue.Next(&tag, &ok) && ok; };
  call->StartCall(nullptr);
  grpc::ByteBuffer answer;
  // If a step fails, the status has the reason.
  if (wait()) {
    call->WriteLast(buffer, {}, nullptr);
    if (wait()) {
      call->Read(&answer, nullptr);
      wait();
    }
  }
  call->Finish(&status, nullptr);
  wait();
  std::vector<grpc::Slice> slices;
  std::string out;
  if (answer.Valid() && answer.Dump(&slices).ok()) {
    for (const grpc::Slice& s : slices)
      out.append(reinterpret_cast<const char*>(s.begin()), s.size());
  }
  return out;
}

// Returns "SERVING", "NOT_SERVING", "NOT_FOUND", "error" for other failures, or "?".
std::string health(const Server& server, const std::string& service) {
  grpc::Status status;
  const std::string request =
      service.empty() ? "" : std::string("\x0a") + static_cast<char>(service.size()) + service;
  const std::string answer =
      call_bytes(server.address(), "/grpc.health.v1.Health/Check", request, status);
  if (!status.ok())
    return status.error_code() == grpc::StatusCode::NOT_FOUND ? "NOT_FOUND" : "error";
  return answer == "\x08\x01" ? "SERVING" : answer == "\x08\x02" ? "NOT_SERVING" : "?";
}

TEST(Server, AnswersOverTheWire) {
  const Server server(options_for("las"));
  const auto stub = pb::PolicyService::NewStub(channel_to(server.address()));
  grpc::ClientContext context;
  pb::DecideResponse answer;
  pb::DecideRequest request = full_cluster();
  request.set_request_id("full");
  const grpc::Status status = stub->Decide(&context, request, &answer);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(answer.source(), pb::POLICY);
  EXPECT_EQ(lines_of(answer), "PREEMPT long\nSTART fresh n0x8\n");
  EXPECT_EQ(answer.request_id(), "full");
  EXPECT_GT(answer.timings().total_ms(), 0);
}

TEST(Server, RejectsContradictionsWithThePlace) {
  const Server server(options_for("las"));
  const auto stub = pb::PolicyService::NewStub(channel_to(server.address()));
  pb::DecideRequest request = full_cluster();
  request.mutable_jobs(1)->set_id("long");
  grpc::ClientContext context;
  pb::DecideResponse answer;
  const grpc::Status status = stub->Decide(&context, request, &answer);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "jobs[1] 'long': expected unique ids, got a duplicate");
}

TEST(Server, NamesWhatItSetsAside) {
  const Server server(options_for("las"));
  const auto stub = pb::PolicyService::NewStub(channel_to(server.address()));
  pb::DecideRequest request = full_cluster();
  add_waiting(request, "big", 9);
  grpc::ClientContext context;
  pb::DecideResponse answer;
  ASSERT_TRUE(stub->Decide(&context, request, &answer).ok());
  EXPECT_EQ(lines_of(answer), "PREEMPT long\nSTART fresh n0x8\n");
  ASSERT_EQ(answer.quarantined_size(), 1);
  EXPECT_EQ(answer.quarantined(0).record(), pb::Quarantined::JOB);
  EXPECT_EQ(answer.quarantined(0).id(), "big");
  EXPECT_EQ(answer.quarantined(0).why(), "expected 1 to 8 GPUs, the size of the cluster, got 9");
}

TEST(Server, RefusesBytesThatAreNoRequest) {
  const Server server(options_for("las"));
  pb::DecideRequest request = full_cluster();
  request.mutable_jobs(1)->set_user("USER");
  std::string text = request.SerializeAsString();
  text.replace(text.find("USER"), 4, "U\xc3\x28R");  // not UTF-8
  for (const std::string& bytes : {std::string("\xff\xff\xff"), std::string(5, '\0'), text}) {
    grpc::Status status;
    call_bytes(server.address(), "/yardmaster.v1.PolicyService/Decide", bytes, status);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    EXPECT_NE(status.error_message().find("a yardmaster.v1.DecideRequest"), std::string::npos);
  }
  httplib::Client http("http://" + server.http_address());
  EXPECT_NE(http.Get("/metrics")->body.find("yardmaster_refused_requests_total 3"),
            std::string::npos);
}

TEST(Server, AdminRefusesBytesThatAreNoRequest) {
  const Server server(options_for("las"));
  for (const char* method : {"Status", "Reload"}) {
    grpc::Status status;
    const std::string path = std::string("/yardmaster.v1.ModelAdmin/") + method;
    call_bytes(server.admin_address(), path, "\xff\xff\xff", status);
    EXPECT_FALSE(status.ok()) << method;
    call_bytes(server.admin_address(), path, "", status);
    EXPECT_TRUE(status.ok()) << method;
  }
}

TEST(Server, RejectsOversizedMessages) {
  ServerOptions options = options_for("las");
  options.max_message_mib = 1;
  const Server server(options);
  const auto stub = pb::PolicyService::NewStub(channel_to(server.address()));
  pb::DecideRequest request = full_cluster();
  request.mutable_jobs(1)->set_name(std::string(2 << 20, 'x'));
  grpc::ClientContext context;
  pb::DecideResponse answer;
  EXPECT_EQ(stub->Decide(&context, request, &answer).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  const httplib::Result posted = httplib::Client("http://" + server.http_address())
                                     .Post("/v1/decide", to_json(request), "application/json");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 413);
}

TEST(Server, StreamsAnswerInOrder) {
  const Server server(options_for("las"));
  const auto stub = pb::PolicyService::NewStub(channel_to(server.address()));
  grpc::ClientContext context;
  const auto stream = stub->DecideStream(&context);
  for (int i = 0; i < 20; ++i) {
    pb::DecideRequest request = full_cluster();
    request.set_request_id(std::to_string(i));
    ASSERT_TRUE(stream->Write(request));
  }
  stream->WritesDone();
  pb::DecideResponse answer;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(stream->Read(&answer));
    EXPECT_EQ(answer.request_id(), std::to_string(i));
    EXPECT_EQ(answer.source(), pb::POLICY);
  }
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST(Server, StreamOutlivesARefusedRequest) {
  const Server server(options_for("las"));
  const auto stub = pb::PolicyService::NewStub(channel_to(server.address()));
  grpc::ClientContext context;
  const auto stream = stub->DecideStream(&context);
  pb::DecideRequest bad;
  bad.set_request_id("bad");
  pb::DecideResponse answer;
  ASSERT_TRUE(stream->Write(bad));
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_EQ(answer.request_id(), "bad");
  EXPECT_EQ(answer.refusal().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_NE(answer.refusal().message().find("nodes"), std::string::npos);
  EXPECT_EQ(answer.source(), pb::SOURCE_UNSPECIFIED);
  ASSERT_TRUE(stream->Write(full_cluster()));
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_EQ(answer.source(), pb::POLICY);
  EXPECT_FALSE(answer.has_refusal());
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST(Server, AbandonedStreamIsHarmless) {
  start_hanging();
  ServerOptions options = options_for("test-hangs");
  options.engine.budget_ms = 200;
  {
    const Server server(options);
    const auto stub = pb::PolicyService::NewStub(channel_to(server.address()));
    grpc::ClientContext context;
    const auto stream = stub->DecideStream(&context);
    ASSERT_TRUE(stream->Write(full_cluster()));
    context.TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  stop_hanging();
}

TEST(Server, HealthReflectionAndAdminFollowTheModel) {
  const TempFolder temp;
  const auto folder = temp.path() / "pilot";
  write_checkpoint(folder, 1);
  Server server(options_for("checkpoint:" + folder.string()));
  EXPECT_EQ(health(server, ""), "SERVING");
  EXPECT_EQ(health(server, "yardmaster.v1.PolicyService"), "SERVING");
  EXPECT_EQ(health(server, "policy/pilot"), "SERVING");
  EXPECT_EQ(health(server, "policy/nobody"), "NOT_FOUND");

  grpc::Status status;
  // ServerReflectionRequest{list_services: "*"}
  const std::string services =
      call_bytes(server.address(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                 "\x3a\x01*", status);
  EXPECT_NE(services.find("yardmaster.v1.PolicyService"), std::string::npos);
  EXPECT_NE(services.find("grpc.health.v1.Health"), std::string::npos);

  const auto admin = pb::ModelAdmin::NewStub(channel_to(server.admin_address()));
  const auto state = [&] {
    grpc::ClientContext context;
    pb::StatusResponse out;
    EXPECT_TRUE(admin->Status(&context, {}, &out).ok());
    return out;
  };
  EXPECT_TRUE(state().serving());
  EXPECT_EQ(state().model(), "pilot");
  EXPECT_EQ(state().fallback(), "las");
  EXPECT_EQ(state().release(), release_version());

  std::filesystem::resize_file(folder / "model.safetensors", 100);
  grpc::ClientContext context;
  pb::StatusResponse out;
  ASSERT_TRUE(admin->Reload(&context, {}, &out).ok());
  EXPECT_TRUE(out.serving()) << "the version in memory";
  EXPECT_EQ(out.reason(), "MODEL_CORRUPT");
  EXPECT_EQ(health(server, "policy/pilot"), "SERVING");

  // The server notices by itself that the files are intact again.
  write_checkpoint(folder, 1);
  while (state().reason() != "NONE") std::this_thread::sleep_for(std::chrono::milliseconds(50));
  // The admin service is not on the public port.
  grpc::Status missing;
  call_bytes(server.address(), "/yardmaster.v1.ModelAdmin/Reload", "", missing);
  EXPECT_EQ(missing.error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST(Server, DrainsBeforeItEnds) {
  ServerOptions options = options_for("las");
  options.grace_s = 0.5;
  Server server(options);
  httplib::Client http("http://" + server.http_address());
  EXPECT_EQ(http.Get("/readyz")->status, 200);
  std::thread drain([&] { server.shut_down_gracefully(); });
  // During the grace period it is not ready, but still decides.
  while (http.Get("/readyz")->status != 503) std::this_thread::yield();
  EXPECT_EQ(http.Get("/livez")->status, 200);
  EXPECT_EQ(health(server, ""), "NOT_SERVING");
  // The socket still takes connections, although no call is answered: by default a client waits 20
  // s.
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 500);
  const auto stub = pb::PolicyService::NewStub(
      grpc::CreateCustomChannel(server.address(), grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  pb::DecideResponse answer;
  EXPECT_TRUE(stub->Decide(&context, full_cluster(), &answer).ok());
  drain.join();
  grpc::ClientContext late;
  EXPECT_EQ(stub->Decide(&late, full_cluster(), &answer).error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST(Server, DrainEndsDecisionsThatHang) {
  start_hanging();
  ServerOptions options = options_for("test-hangs");
  options.engine.fallback = "las";
  options.engine.budget_ms = 3.6e6;
  auto server = std::make_unique<Server>(options);
  const auto stub = pb::PolicyService::NewStub(channel_to(server->address()));
  pb::DecideResponse answer;
  std::thread caller([&] {
    grpc::ClientContext context;
    stub->Decide(&context, full_cluster(), &answer);
  });
  httplib::Client http("http://" + server->http_address());
  const char* in_progress = "yardmaster_decisions_in_progress 1";
  while (http.Get("/metrics")->body.find(in_progress) == std::string::npos) {
  }
  server->shut_down_gracefully();  // else in an hour
  EXPECT_TRUE(server->has_stuck_policy());
  caller.join();
  server.reset();
  stop_hanging();
}

TEST(Server, PortInUseIsRejected) {
  const Server server(options_for("las"));
  for (std::string ServerOptions::*port :
       {&ServerOptions::listen, &ServerOptions::http, &ServerOptions::admin}) {
    for (const std::string& taken : {server.address(), server.http_address()}) {
      ServerOptions options = options_for("las");
      options.*port = taken;
      try {
        const Server second(options);
        ADD_FAILURE() << taken;
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("port, got '" + taken), std::string::npos)
            << error.what();
      }
    }
  }
  for (const char* text : {"localhost", "1.2.3.4:x", ":", "127.0.0.1:70000", "127.0.0.1:-1"}) {
    ServerOptions options = options_for("las");
    options.listen = text;
    EXPECT_THROW(Server{options}, InputError) << text;
  }
}

TEST(Http, DecidesInJson) {
  const Server server(options_for("las"));
  httplib::Client http("http://" + server.http_address());
  const httplib::Result result =
      http.Post("/v1/decide", to_json(full_cluster()), "application/json");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  const auto answer = nlohmann::json::parse(result->body);
  EXPECT_EQ(answer.at("source"), "POLICY");
  EXPECT_EQ(answer.at("actions").size(), 2u);
  EXPECT_EQ(answer.at("actions")[1].at("pieces")[0].at("node"), "n0");
  for (const char* bad :
       {"", "{", "{\"time_s\": 5}", "\xff\xfe", "{\"nodes\":[{\"name\":\"\xc3\x28\"}]}"}) {
    const httplib::Result refused = http.Post("/v1/decide", bad, "application/json");
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 400) << bad;
    EXPECT_FALSE(nlohmann::json::parse(refused->body).at("error").get<std::string>().empty());
  }
  // Half a surrogate pair is no valid text. The server must survive it, whatever the answer.
  pb::DecideRequest odd = full_cluster();
  odd.set_request_id("SURROGATE");
  std::string json = to_json(odd);
  json.replace(json.find("SURROGATE"), 9, "\\ud800");
  ASSERT_TRUE(http.Post("/v1/decide", json, "application/json"));
  EXPECT_EQ(http.Get("/v1/decide")->status, 405);
  EXPECT_FALSE(nlohmann::json::parse(http.Get("/version")->body).at("yardmaster").empty());
}

struct Sample {
  std::string name;
  std::string labels;  // with braces
  double value = 0;
};

// Parses `name{label="value",...} number`. Returns an empty name for any other line.
Sample read_sample(const std::string& line) {
  const auto is_name = [](std::string_view text) {
    return !text.empty() &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
  };
  const size_t space = line.rfind(' ');
  if (space == std::string::npos) return {};
  const std::string left = line.substr(0, space), number = line.substr(space + 1);
  const size_t brace = left.find('{');
  Sample out{left.substr(0, brace), brace == std::string::npos ? "" : left.substr(brace)};
  const auto value = parse_double(number);
  if (!is_name(out.name) || (!value && number != "+Inf")) return {};
  out.value = value.value_or(0);
  if (out.labels.empty()) return out;
  if (out.labels.back() != '}') return {};
  for (const std::string_view label :
       split(std::string_view(out.labels).substr(1, out.labels.size() - 2), ',')) {
    const size_t equals = label.find("=\"");
    if (equals == std::string_view::npos || label.back() != '"') return {};
    if (!is_name(label.substr(0, equals))) return {};
  }
  return out;
}

// Parses every line of the exposition and checks every name by Prometheus' rules.
TEST(Http, MetricsAreValidAndCount) {
  const TempFolder temp;
  write_checkpoint(temp.path() / "pilot", 1);
  Server server(options_for("checkpoint:" + (temp.path() / "pilot").string()));
  httplib::Client http("http://" + server.http_address());
  pb::DecideRequest other = full_cluster();
  other.set_model("x\"y\\z\n");
  for (const pb::DecideRequest& request : {full_cluster(), full_cluster(), other}) {
    ASSERT_EQ(http.Post("/v1/decide", to_json(request), "application/json")->status, 200);
  }
  ASSERT_EQ(http.Post("/v1/decide", "{}", "application/json")->status, 400);
  EXPECT_NE(http.Get("/metrics")->body.find("yardmaster_policy_memories 1\n"), std::string::npos);
  EXPECT_NE(http.Get("/metrics")->body.find("yardmaster_policy_memory_rebuilt_total 1\n"),
            std::string::npos);
  std::filesystem::remove(temp.path() / "pilot" / "golden.safetensors");
  server.reload();

  const std::string text = http.Get("/metrics")->body;
  std::map<std::string, std::string> type_of;
  std::map<std::string, double> value_of;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ")) {
      const auto words = split(line, ' ');
      ASSERT_GE(words.size(), 4u) << line;
      if (words[1] == "TYPE") type_of[std::string(words[2])] = words[3];
      continue;
    }
    const Sample sample = read_sample(line);
    const bool is_process = sample.name.starts_with("process_");  // named by Prometheus
    ASSERT_TRUE(is_process || sample.name.starts_with("yardmaster_")) << line;
    std::string family = sample.name;
    for (const char* end : {"_bucket", "_sum", "_count"}) {
      if (family.ends_with(end)) family.resize(family.size() - std::string(end).size());
    }
    ASSERT_TRUE(type_of.contains(family)) << line;
    value_of[sample.name + sample.labels] = sample.value;
  }
  for (const auto& [name, type] : type_of) {
    EXPECT_EQ(name.ends_with("_total"), type == "counter") << name;
    if (name.starts_with("process_")) continue;
    EXPECT_EQ(name.ends_with("_seconds"), type == "histogram") << name;
  }
  EXPECT_GT(value_of.at("process_resident_memory_bytes"), 1e6);
  EXPECT_GE(value_of.at("process_open_fds"), 5);
  EXPECT_GT(value_of.at("process_max_fds"), value_of.at("process_open_fds"));
  EXPECT_GT(value_of.at("process_cpu_seconds_total"), 0);
  const auto stage = [](const std::string& name) {
    return "yardmaster_decision_stage_seconds_count{stage=\"" + name + "\"}";
  };
  EXPECT_EQ(value_of.at(stage("queue")), 3);
  EXPECT_EQ(value_of.at(stage("policy")), 2);
  EXPECT_GE(value_of.at(stage("wait")), 1) << "of answers for which no heuristic ran";
  EXPECT_GE(value_of.at(stage("heuristic")), 1);
  EXPECT_EQ(value_of.at("yardmaster_queue_length{queue=\"policy\"}"), 0);
  EXPECT_EQ(value_of.at("yardmaster_queue_limit{queue=\"policy\"}"), 64);
  const auto decisions = [](const char* model, const char* reason, const char* source) {
    return std::string("yardmaster_decisions_total{model=\"") + model + "\",reason=\"" + reason +
           "\",source=\"" + source + "\"}";
  };
  EXPECT_EQ(value_of.at(decisions("pilot", "NONE", "POLICY")), 2);
  EXPECT_EQ(value_of.at(decisions("unknown", "NO_MODEL", "HEURISTIC")), 1);
  EXPECT_EQ(value_of.at("yardmaster_refused_requests_total"), 1);
  EXPECT_EQ(value_of.at("yardmaster_model_serving{model=\"pilot\"}"), 1);
  EXPECT_EQ(value_of.at("yardmaster_model_loads_total{model=\"pilot\",result=\"loaded\"}"), 1);
  EXPECT_EQ(value_of.at("yardmaster_model_loads_total{model=\"pilot\",result=\"refused\"}"), 1);
  EXPECT_EQ(value_of.at("yardmaster_ready"), 1);
  EXPECT_EQ(value_of.at("yardmaster_decision_duration_seconds_count{source=\"POLICY\"}"), 2);
}

}  // namespace
}  // namespace yard::testing
