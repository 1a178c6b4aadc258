// Checks the decision log of the program: killed while writing, on a full disk, read afterwards.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

#include "serving/snapshot/json.h"
#include "tests/serving/child.h"
#include "tests/serving/log/logs.h"
#include "tests/serving/requests.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

class LogProgram : public ::testing::Test {
 protected:
  std::vector<std::string> serve(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {
        "serve",   "--policy", "las",         "--listen", "127.0.0.1:0",    "--json",
        "--grace", "0",        "--budget-ms", "20000",    "--decision-log", folder()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::string folder() const { return temp_.path() / "log"; }

  std::string output(const std::vector<std::string>& arguments) const {
    Child child(temp_.path(), arguments);
    EXPECT_EQ(child.wait(), 0) << child.err();
    return child.out();
  }

  // Expects exit code 2 and one line of error with `says`.
  void expect_refused(const std::vector<std::string>& arguments, const std::string& says) const {
    Child child(temp_.path(), arguments);
    EXPECT_EQ(child.wait(), 2);
    EXPECT_THAT(child.err(), HasSubstr(says));
    const std::string err = child.err();
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_EQ(child.out(), "");
  }

  TempFolder temp_;
};

// Asks `max_requests` times, or until the server is gone. Returns the number of answers.
uint64_t ask_repeatedly(const std::string& address, int max_requests,
                        std::atomic<uint64_t>& answered) {
  const auto stub =
      pb::PolicyService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  pb::DecideRequest request = full_cluster();
  request.mutable_jobs(1)->set_name(std::string(20'000, 'x'));
  uint64_t mine = 0;
  for (int i = 0; i < max_requests; ++i) {
    request.set_time_s(10'000 + i);
    grpc::ClientContext context;
    pb::DecideResponse answer;
    if (!stub->Decide(&context, request, &answer).ok()) break;
    ++mine;
    ++answered;
  }
  return mine;
}

TEST_F(LogProgram, KilledServerLosesOnlyTheTail) {
  for (int round = 0; round < 3; ++round) {
    Child server(temp_.path(), serve());
    const std::string address = server.addresses().at("grpc");
    std::atomic<uint64_t> answered = 0;
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c) {
      callers.emplace_back([&] { ask_repeatedly(address, 1'000'000, answered); });
    }
    while (answered < 200) std::this_thread::yield();
    server.signal(SIGKILL);
    EXPECT_EQ(server.wait(), -SIGKILL);
    for (std::thread& caller : callers) caller.join();
  }
  LogReader log(folder());
  EXPECT_EQ(log.files().size(), 3u);
  std::map<std::string, uint64_t> last;
  for (const pb::LogRecord& record : log) {
    if (!record.has_decision()) continue;
    EXPECT_EQ(record.decision().number(), ++last[log.head().run()]);
  }
  EXPECT_EQ(last.size(), 3u);
  EXPECT_LE(log.damage().cut_tails, 3u);
  EXPECT_EQ(log.damage().damaged + log.damage().lost, 0u) << log.damage().first;
  const auto description = nlohmann::json::parse(output({"log", "describe", folder(), "--json"}));
  EXPECT_EQ(description.at("runs"), 3);
  EXPECT_EQ(description.at("missing"), 0);
}

// Files may not grow past 100 kB. Serving continues, and dropped records are reported.
TEST_F(LogProgram, FullDiskDoesNotAffectServing) {
  Child server(temp_.path(), serve(), [] {
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 100'000;
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  std::atomic<uint64_t> answered = 0;
  EXPECT_EQ(ask_repeatedly(server.addresses().at("grpc"), 50, answered), 50u);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
  EXPECT_THAT(server.err(), HasSubstr("decision log: File too large; records are dropped"));
  LogReader::Damage damage;
  const auto records = read_log(folder(), &damage);
  EXPECT_GE(records.size(), 3u);
  EXPECT_LT(records.size(), 6u);
  EXPECT_EQ(damage.cut_tails + damage.damaged + damage.lost, 0u);
}

TEST_F(LogProgram, DescribesPrintsAndReplays) {
  {
    Child server(temp_.path(), serve({"--decision-log-mib", "8", "--decision-log-file-mib", "2"}));
    std::atomic<uint64_t> answered = 0;
    ask_repeatedly(server.addresses().at("grpc"), 10, answered);
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait(), 0) << server.err();
  }
  EXPECT_THAT(output({"log", "describe", folder()}),
              HasSubstr("10 decisions of 1 runs in 1 files of 0.2 MiB, 0 missing\n"));
  const auto description = nlohmann::json::parse(output({"log", "describe", folder(), "--json"}));
  EXPECT_EQ(description.at("decisions"), 10);
  EXPECT_EQ(description.at("models").at(0).at("model"), "las");
  EXPECT_EQ(description.at("reasons").at(0).at("source"), "POLICY");
  EXPECT_EQ(description.at("decided_by").at("las"), 10);
  EXPECT_EQ(description.at("preemptions"), 10);
  EXPECT_EQ(description.at("jobs"), 2);

  std::istringstream lines(output({"log", "print", folder()}));
  int records = 0;
  for (std::string line; std::getline(lines, line); ++records) {
    const auto record = nlohmann::json::parse(line);
    EXPECT_EQ(record.at("decision").at("response").at("actions").size(), 2u);
    EXPECT_EQ(record.at("decision").at("request").at("time_s"), 10'000 + records);
  }
  EXPECT_EQ(records, 10);

  EXPECT_EQ(output({"log", "replay", folder()}), "10 of 10 decisions are identical\n");
  EXPECT_EQ(output({"log", "replay", folder(), folder(), "--policy", "las"}),
            "20 of 20 decisions are identical\n");
  Child other(temp_.path(), {"log", "replay", folder(), "--policy", "greedy", "--json"});
  EXPECT_EQ(other.wait(), 1);
  const auto replayed = nlohmann::json::parse(other.out());
  EXPECT_EQ(replayed.at("decisions"), 10);
  EXPECT_EQ(replayed.at("identical"), 0);
  EXPECT_THAT(replayed.at("first_other"), HasSubstr("action 1: recorded PREEMPT "));
}

TEST_F(LogProgram, HelpSucceeds) {
  EXPECT_THAT(output({"log", "--help"}), HasSubstr("describe"));
  EXPECT_THAT(output({"log", "replay", "--help"}), HasSubstr("--policy"));
}

TEST_F(LogProgram, RejectsBadInputInOneLine) {
  Child server(temp_.path(), serve());
  server.addresses();
  expect_refused(serve(), "a folder not used by another server");
  expect_refused({"serve", "--policy", "las", "--decision-log-mib", "8"},
                 "--decision-log-mib requires --decision-log");
  const std::string other = temp_.path() / "other";
  expect_refused({"serve", "--policy", "las", "--decision-log", other, "--decision-log-mib", "8"},
                 "decision log: expected room for at least two files");
  std::ofstream(temp_.path() / "file") << "this is no log";
  expect_refused({"serve", "--policy", "las", "--decision-log", temp_.path() / "file"},
                 "expected a writable folder");
  expect_refused({"log", "describe", other}, "expected a folder with a decision log");
  expect_refused({"log", "describe", temp_.path() / "file"},
                 "file, byte 0: expected a record length");
  expect_refused({"log", "replay"}, "log is required");
  expect_refused({"log"}, "subcommand");
  expect_refused({"log", "describe"}, "log is required");
}

}  // namespace
}  // namespace yard::testing
