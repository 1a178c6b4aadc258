// Checks the program yardmaster-serve as a process: started, asked, stopped, killed.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "serving/snapshot/json.h"
#include "tests/serving/child.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(std::filesystem::exists(program())) << program();
    std::ofstream(snapshot()) << to_json(full_cluster());
  }

  std::string snapshot() const { return (temp_.path() / "snapshot.json").string(); }

  Child serve(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"serve",   "--listen", "127.0.0.1:0", "--json",
                                          "--grace", "0",        "--budget-ms", "20000"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return {temp_.path(), arguments};
  }

  nlohmann::json decide(const std::string& server) const {
    Child child(temp_.path(), {"decide", "--server", server, "--snapshot", snapshot(), "--json",
                               "--deadline-ms", "30000"});
    EXPECT_EQ(child.wait(), 0) << child.err();
    return nlohmann::json::parse(child.out());
  }

  // Expects exit code 2 and one line of error with `says`.
  void expect_refused(Child&& child, const std::string& says) const {
    EXPECT_EQ(child.wait(), 2);
    const std::string err = child.err();
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_NE(err.find(says), std::string::npos) << err;
    EXPECT_EQ(child.out(), "");
  }

  TempFolder temp_;
};

TEST_F(Program, ServesUntilSigterm) {
  Child server = serve({"--policy", "greedy", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"});
  const nlohmann::json at = server.addresses();
  EXPECT_EQ(at.at("model"), "greedy");
  EXPECT_EQ(at.at("serving"), true);
  EXPECT_FALSE(at.at("http").get<std::string>().empty());
  EXPECT_FALSE(at.at("admin").get<std::string>().empty());
  EXPECT_EQ(decide(at.at("grpc")).at("source"), "POLICY");
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.err();
}

TEST_F(Program, ClientFallsBackIfTheServerIsKilled) {
  Child server = serve({"--policy", "greedy"});
  const std::string address = server.addresses().at("grpc");
  server.signal(SIGKILL);
  EXPECT_EQ(server.wait(), -SIGKILL);
  const nlohmann::json answer = decide(address);
  EXPECT_EQ(answer.at("source"), "CLIENT_HEURISTIC");
  EXPECT_EQ(answer.at("reason"), "UNAVAILABLE");
  EXPECT_EQ(answer.at("actions").size(), 2u);
}

TEST_F(Program, StoppedServerCostsTheDeadline) {
  Child server = serve({"--policy", "greedy"});
  const std::string address = server.addresses().at("grpc");
  server.signal(SIGSTOP);
  Child child(temp_.path(), {"decide", "--server", address, "--snapshot", snapshot(), "--json",
                             "--deadline-ms", "200"});
  EXPECT_EQ(child.wait(), 0) << child.err();
  const auto answer = nlohmann::json::parse(child.out());
  EXPECT_EQ(answer.at("source"), "CLIENT_HEURISTIC");
  EXPECT_EQ(answer.at("reason"), "DEADLINE");
  server.signal(SIGCONT);
  EXPECT_EQ(decide(address).at("source"), "POLICY");
}

TEST_F(Program, DamagedFilesAreReportedWhileTheModelServes) {
  const auto folder = temp_.path() / "pilot";
  write_checkpoint(folder, 1);
  Child server = serve({"--checkpoint", folder.string()});
  const nlohmann::json at = server.addresses();
  EXPECT_EQ(decide(at.at("grpc")).at("source"), "POLICY");
  std::ofstream(folder / "model.safetensors", std::ios::app) << "x";
  // The server notices by itself within about a second, and at once on SIGHUP.
  while (server.err().find("model.safetensors") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  nlohmann::json answer = decide(at.at("grpc"));
  EXPECT_EQ(answer.at("source"), "POLICY");
  EXPECT_EQ(answer.at("model_digest"), at.at("digest"));
  write_checkpoint(folder, 2);
  server.signal(SIGHUP);
  do {
    answer = decide(at.at("grpc"));
    EXPECT_EQ(answer.at("source"), "POLICY");
  } while (answer.at("model_digest") == at.at("digest"));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.err();
}

TEST_F(Program, StartsWithADamagedModel) {
  const auto folder = temp_.path() / "pilot";
  write_checkpoint(folder, 1);
  std::filesystem::resize_file(folder / "manifest.json", 10);
  Child server = serve({"--checkpoint", folder.string()});
  const nlohmann::json at = server.addresses();
  EXPECT_EQ(at.at("serving"), false);
  EXPECT_EQ(at.at("reason"), "MODEL_CORRUPT");
  EXPECT_EQ(decide(at.at("grpc")).at("source"), "HEURISTIC");
}

TEST_F(Program, RunFolderErrorNamesTheCheckpoint) {
  const auto run = temp_.path() / "run";
  std::filesystem::create_directories(run / "checkpoints");
  write_checkpoint(run / "checkpoints" / "best", 1);
  const std::string best = (run / "checkpoints" / "best").string();
  for (const auto& folder : {run, run / "checkpoints"}) {
    expect_refused(
        Child(temp_.path(), {"serve", "--listen", "127.0.0.1:0", "--checkpoint", folder.string()}),
        "a folder of checkpoints; the best one is " + best);
  }
}

TEST_F(Program, RejectsBadInputInOneLine) {
  Child server = serve({"--policy", "las"});
  const std::string taken = server.addresses().at("grpc");
  const auto serve_with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "serve");
    return Child(temp_.path(), more);
  };
  expect_refused(serve_with({"--policy", "las", "--listen", taken}),
                 "--listen: expected a free address");
  expect_refused(serve_with({"--policy", "las", "--listen", "127.0.0.1:0", "--http", taken}),
                 "--http: expected a free address");
  expect_refused(serve_with({"--checkpoint", (temp_.path() / "no").string()}),
                 "checkpoint: expected a folder");
  expect_refused(serve_with({"--policy", "srtf"}), "a policy for live clusters");
  expect_refused(serve_with({"--policy", "nobody"}), "expected one of:");
  expect_refused(serve_with({"--policy", "las", "--fallback", "nobody"}), "expected one of:");
  expect_refused(serve_with({"--policy", "las", "--listen", "here"}), "HOST:PORT");
  expect_refused(serve_with({"--polcy", "las"}), "--polcy");
  expect_refused(serve_with({"--grace", "-1"}), "--grace");

  const auto decide_with = [&](const std::string& json, const std::string& says) {
    std::ofstream(temp_.path() / "bad.json") << json;
    expect_refused(Child(temp_.path(), {"decide", "--server", taken, "--snapshot",
                                        (temp_.path() / "bad.json").string()}),
                   says);
  };
  decide_with("{\"nodes\": [", "bad.json: expected a yardmaster.v1.DecideRequest");
  decide_with("{\"colour\": 1}", "colour");
  decide_with("{\"time_s\": 5}", "nodes: expected 1 to");
  expect_refused(Child(temp_.path(), {"decide", "--snapshot", (temp_.path() / "no.json").string()}),
                 "no.json");
  expect_refused(Child(temp_.path(), {"decide"}), "--snapshot");
  expect_refused(Child(temp_.path(), {"serv"}), "did you mean `serve`?");
}

TEST_F(Program, HelpSucceeds) {
  for (const char* command : {"serve", "decide", "bench-served"}) {
    Child child(temp_.path(), {command, "--help"});
    EXPECT_EQ(child.wait(), 0);
    EXPECT_NE(child.out().find("--policy") != std::string::npos ||
                  child.out().find("--snapshot") != std::string::npos,
              false);
  }
}

TEST_F(Program, BenchPrintsJson) {
  Child child(temp_.path(),
              {"bench-served", "--calls", "20", "--nodes", "4", "--waiting", "4", "--json"});
  ASSERT_EQ(child.wait(), 0) << child.err();
  const auto out = nlohmann::json::parse(child.out());
  ASSERT_EQ(out.at("results").size(), 2u);
  for (const auto& result : out.at("results")) {
    EXPECT_GT(result.at("value"), 0);
    EXPECT_GT(result.at("ratio"), 0);
    EXPECT_EQ(result.at("unit"), "ms");
    EXPECT_EQ(result.at("detail").at("calls"), 20);
  }
  EXPECT_TRUE(out.contains("machine"));
}

// The scores are those of the simulation to the last digit; only the speed of the decisions
// differs.
TEST_F(Program, EvaluatesAPolicyAsServed) {
  const auto arguments = [](const std::string& candidate) {
    return std::vector<std::string>{
        "evaluate",        "--trace",   "synthetic:habits", "--cluster", "2x8",
        "--generate-jobs", "120",       "--replicas",       "2",         "--candidate",
        candidate,         "--against", "fifo,greedy",      "--json"};
  };
  const auto scores = [&](bool served) {
    std::vector<std::string> all = arguments("tiresias-gittins");
    if (served) all.push_back("--served");
    Child child(temp_.path(), all);
    EXPECT_EQ(child.wait(), 0) << child.err();
    nlohmann::json out = nlohmann::json::parse(child.out()).at("summary");
    for (nlohmann::json& row : out) EXPECT_EQ(row.erase("decisions_per_s"), 1U);
    return out.dump();
  };
  EXPECT_EQ(scores(true), scores(false));
  const auto refuse = [&](std::vector<std::string> all, const std::string& says) {
    all.push_back("--served");
    Child child(temp_.path(), all);
    EXPECT_EQ(child.wait(), 2);
    EXPECT_NE(child.err().find(says), std::string::npos) << child.err();
  };
  refuse(arguments("srtf"), "a policy that a server can run");
  std::vector<std::string> limited = arguments("saf");
  limited.insert(limited.end(), {"--information", "history"});
  refuse(limited, "the policy's own level of information");
  std::vector<std::string> rated = arguments("greedy");
  rated[4] = "servers-6";
  rated[2] = "synthetic:servers";
  refuse(rated, "what a snapshot carries");
}

}  // namespace
}  // namespace yard::testing
