// Checks the log of a real server: it holds every decision with its inputs, and the same policy
// decides the same again on replay.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/files/tfrecord.h"
#include "serving/engine/log_replay.h"
#include "serving/log/log_summary.h"
#include "serving/net/server.h"
#include "serving/snapshot/export.h"
#include "tests/serving/log/logs.h"
#include "tests/serving/requests.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

class ServedLog : public ::testing::Test {
 protected:
  ServerOptions options_for(const std::string& policy) const {
    ServerOptions options;
    options.listen = options.http = "127.0.0.1:0";
    options.policy = policy;
    options.engine.budget_ms = 20'000;
    options.grace_s = 0;
    options.log.folder = folder();
    return options;
  }
  std::string folder() const { return temp_.path() / "log"; }

  std::string pilot() const {
    const auto folder = temp_.path() / "pilot";
    if (!std::filesystem::exists(folder)) write_checkpoint(folder, 1);
    return "checkpoint:" + folder.string();
  }

  TempFolder temp_;
};

pb::DecideResponse decide(const std::string& address, const pb::DecideRequest& request) {
  const auto stub =
      pb::PolicyService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  pb::DecideResponse answer;
  const grpc::Status status = stub->Decide(&context, request, &answer);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return answer;
}

LogReplayResult replay_of(const std::filesystem::path& path, const Model* model = nullptr) {
  LogReader log(path);
  LogReplayResult out;
  replay_log(log, model, out);
  return out;
}

// Asks the server at every event of a random workload. Returns the number of requests.
int play(const std::string& address, uint64_t seed) {
  const std::string cluster = "3x4:k80+2x8:v100";
  const ClusterSpec spec = load_cluster(cluster);
  const Scene scene(cluster, random_jobs(Rng{seed}, {.count = 60, .mean_gap_s = 60}));
  const auto las = PolicyRegistry::make("las", {});
  SceneRunner runner(scene, *las);
  std::vector<EndedJob> finished;
  int asked = 0;
  while (runner.advance()) {
    const SimState& s = runner.state();
    for (int32_t i = 0; i < s.head->num_changed; ++i) {
      const int32_t slot = s.changed[i];
      if (s.phase[slot] != Phase::kDone) continue;
      finished.push_back({s.job[slot], s.head->now_us, runner.view().attained_us(slot)});
    }
    decide(address, to_request(spec, scene.jobs(), scene.fixed(), s, finished));
    ++asked;
    if (!runner.decide()) ADD_FAILURE() << "no decision";
  }
  return asked;
}

TEST_F(ServedLog, ReplayedRequestsGiveTheSameDecisions) {
  for (const std::string& policy : {std::string("las"), std::string("gittins"), pilot()}) {
    ServerOptions options = options_for(policy);
    options.log.folder += "-" + options.policy.substr(0, 4);
    int asked = 0;
    {
      Server server(options);
      for (uint64_t seed = 1; seed <= 2; ++seed) asked += play(server.address(), seed);
      server.shut_down_gracefully();
    }
    const Model again = open_servable(policy);
    const LogReplayResult replayed = replay_of(options.log.folder, &again);
    EXPECT_GT(asked, 200) << policy;
    EXPECT_EQ(replayed.decisions, static_cast<uint64_t>(asked)) << policy;
    EXPECT_EQ(replayed.identical, replayed.decisions) << policy << replayed.first;
    EXPECT_EQ(replayed.other_version, 0u) << policy;
    const Model other = open_servable("fifo");
    const LogReplayResult fifo = replay_of(options.log.folder, &other);
    EXPECT_LT(fifo.identical, fifo.decisions) << "the comparison detects differences";
    EXPECT_FALSE(fifo.first.empty());
    LogReader summed(options.log.folder);
    const LogSummary summary = summarise(summed);
    EXPECT_GT(summary.starts, 100u);
    EXPECT_EQ(summary.decisions, replayed.decisions);
    EXPECT_EQ(summary.missing, 0u);
    EXPECT_EQ(summary.models.size(), 1u);
    EXPECT_EQ(summary.models.begin()->first.second, again.digest);
    // All jobs but those of each play's last snapshot are reported as finished.
    EXPECT_GE(summary.finished, 110u);
  }
}

// What a policy has learned of names and users decides on: after a restart of the server, after
// decisions that it did not make, and beside another cluster.
TEST_F(ServedLog, MemoryIsReplayedAsRecorded) {
  ServerOptions options = options_for("tiresias-gittins");
  uint64_t asked = 0;
  for (uint64_t run = 1; run <= 2; ++run) {
    Server server(options);
    asked += play(server.address(), run);
    server.shut_down_gracefully();
  }
  const LogReplayResult all = replay_of(folder());
  EXPECT_EQ(all.decisions, asked);
  EXPECT_EQ(all.identical, all.decisions) << all.first;
  std::map<pb::LoggedDecision::Recall, int> recalls;
  for (const pb::LogRecord& record : read_log(folder())) {
    if (record.has_decision()) ++recalls[record.decision().recall()];
  }
  EXPECT_GE(recalls[pb::LoggedDecision::ANEW], 2) << "once per run at least";
  EXPECT_GT(recalls[pb::LoggedDecision::REMEMBERED], 100);
}

// The policy remembers nothing of a snapshot on which another decided without it.
TEST_F(ServedLog, AnswersOfOthersThanThePolicyAreReplayedToo) {
  ServerOptions options = options_for("tiresias-gittins");
  options.engine.max_wait_s = 200;  // then easy decides
  options.engine.fallback = "greedy";
  int asked = 0;
  {
    Server server(options);
    asked = play(server.address(), 5);
    pb::DecideRequest unknown = full_cluster();
    unknown.set_model("nobody");
    decide(server.address(), unknown);
    server.shut_down_gracefully();
  }
  LogReader summed(folder());
  const LogSummary summary = summarise(summed);
  std::string deciders;
  for (const auto& [name, count] : summary.deciders) deciders += name + fmt::format(" {} ", count);
  SCOPED_TRACE(deciders);
  ASSERT_EQ(summary.deciders.size(), 3u);
  EXPECT_GT(summary.deciders.at("easy"), 10u);
  EXPECT_EQ(summary.deciders.at("greedy"), 1u);
  EXPECT_GT(summary.deciders.at("tiresias-gittins"), 10u);
  const LogReplayResult replayed = replay_of(folder());
  EXPECT_EQ(replayed.decisions, static_cast<uint64_t>(asked) + 1);
  for (const pb::LogRecord& record : read_log(folder())) {
    if (!record.has_decision()) continue;
    const bool by_policy = record.decision().response().source() == pb::POLICY;
    EXPECT_EQ(record.decision().recall() == pb::LoggedDecision::NOT_BEGUN, !by_policy);
  }
  EXPECT_EQ(replayed.identical, replayed.decisions) << replayed.first;
}

// Words for the first difference, down to what a summary of actions leaves out.
TEST_F(ServedLog, DifferencesAreToldInWords) {
  {
    Server server(options_for("las"));
    decide(server.address(), full_cluster());
    server.shut_down_gracefully();
  }
  const pb::LogRecord record = read_log(folder()).front();
  const auto first_of = [&](const std::function<void(pb::DecideResponse&)>& change) {
    pb::LogRecord changed = record;
    change(*changed.mutable_decision()->mutable_response());
    const auto file = temp_.path() / "changed.tfrecord";
    std::ofstream(file, std::ios::binary) << tfrecord_frame(changed.SerializeAsString());
    const LogReplayResult out = replay_of(file);
    EXPECT_EQ(out.decisions, 1u);
    EXPECT_EQ(out.identical, out.first.empty() ? 1u : 0u);
    return out.first;
  };
  EXPECT_EQ(first_of([](auto&) {}), "");
  EXPECT_EQ(first_of([](auto& answer) { answer.mutable_timings()->set_total_ms(1); }), "");
  EXPECT_THAT(first_of([](auto& answer) { answer.mutable_actions()->RemoveLast(); }),
              HasSubstr("(POLICY, NONE): action 2: recorded nothing, replayed START "));
  EXPECT_THAT(first_of([](auto& answer) { answer.mutable_actions(0)->set_restart(7); }),
              HasSubstr("GPU numbers, restart or expected state differ"));
  EXPECT_THAT(first_of([](auto& answer) { answer.set_wake_after_s(12.5); }),
              HasSubstr("next decision: recorded after 12.5 s, replayed "));
  EXPECT_THAT(first_of([](auto& answer) { answer.add_quarantined()->set_id("x"); }),
              HasSubstr("records set aside: recorded 1, replayed 0"));
  EXPECT_THAT(first_of([](auto& answer) {
                answer.set_model_digest("old");
                answer.clear_actions();
              }),
              HasSubstr("; another version of the policy is replayed"));
  EXPECT_THROW(first_of([](auto& answer) { answer.set_model("gone"); }), InputError);
}

// The options that are logged as chosen by a trained policy are its actions.
TEST_F(ServedLog, OptionsMatchTheDecision) {
  {
    Server server(options_for(pilot()));
    play(server.address(), 3);
    server.shut_down_gracefully();
  }
  int steps = 0;
  for (const pb::LogRecord& record : read_log(folder())) {
    if (!record.has_decision()) continue;
    const pb::LoggedDecision& decision = record.decision();
    EXPECT_EQ(decision.trace().probability(), 1);
    EXPECT_FALSE(decision.trace().has_sample_key());
    EXPECT_GT(decision.trace().memory_bytes(), 0u);
    std::multiset<std::string> chosen, acted;
    for (const pb::Step& step : decision.trace().steps()) {
      ++steps;
      ASSERT_LT(step.chosen(), static_cast<uint32_t>(step.options_size()));
      const pb::Option& option = step.options(static_cast<int>(step.chosen()));
      for (const pb::Option& other : step.options()) EXPECT_LE(other.logit(), option.logit());
      EXPECT_EQ(step.probability(), 1);
      if (option.verb() == pb::VERB_UNSPECIFIED) continue;
      chosen.insert(pb::Verb_Name(option.verb()) +
                    decision.request().jobs(static_cast<int>(option.job())).id());
    }
    for (const pb::Action& action : decision.response().actions()) {
      acted.insert(pb::Verb_Name(action.verb()) + action.job());
    }
    EXPECT_EQ(chosen, acted);
  }
  EXPECT_GT(steps, 100);
}

TEST_F(ServedLog, RecordsTheSourceAndReasonOfAnswers) {
  start_hanging();
  ServerOptions options = options_for("test-hangs");
  options.engine.budget_ms = 500;
  {
    Server server(options);
    decide(server.address(), full_cluster());
    pb::DecideRequest other = full_cluster();
    other.set_model("nobody");
    decide(server.address(), other);
    stop_hanging();
    server.shut_down_gracefully();
  }
  const auto records = read_log(folder());
  ASSERT_EQ(records.size(), 2u);
  const pb::DecideResponse& late = records[0].decision().response();
  EXPECT_EQ(late.source(), pb::HEURISTIC);
  EXPECT_EQ(late.reason(), pb::DEADLINE);
  EXPECT_EQ(late.decided_by(), "las");
  EXPECT_EQ(late.model(), "test-hangs");
  EXPECT_EQ(records[0].decision().trace().probability(), 1);
  EXPECT_EQ(records[1].decision().response().reason(), pb::NO_MODEL);
}

TEST_F(ServedLog, RecordsConcurrentCallers) {
  constexpr int kCallers = 8, kEach = 40;
  std::set<std::string> answered;
  std::mutex mutex;
  {
    Server server(options_for("las"));
    std::vector<std::thread> callers;
    for (int c = 0; c < kCallers; ++c) {
      callers.emplace_back([&, c] {
        for (int i = 0; i < kEach; ++i) {
          pb::DecideRequest request = full_cluster();
          request.set_cluster(std::to_string(c));
          request.set_time_s(10'000 + i);
          const std::string id = decide(server.address(), request).decision_id();
          const std::lock_guard lock(mutex);
          answered.insert(id);
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    server.shut_down_gracefully();
    EXPECT_EQ(server.log()->late, 0u);
  }
  std::set<std::string> logged;
  for (const pb::LogRecord& record : read_log(folder())) {
    logged.insert(record.decision().response().decision_id());
  }
  EXPECT_EQ(logged, answered);
  EXPECT_EQ(logged.size(), size_t{kCallers * kEach});
}

TEST_F(ServedLog, MetricsReportTheLog) {
  Server server(options_for("las"));
  decide(server.address(), full_cluster());
  std::string text;
  do {
    text = httplib::Client("http://" + server.http_address()).Get("/metrics")->body;
  } while (text.find("log_records_total{kind=\"decision\"} 1\n") == std::string::npos);
  EXPECT_THAT(text, HasSubstr("yardmaster_decision_log_dropped_total{reason=\"disk\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("yardmaster_decision_log_dropped_total{reason=\"late\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("yardmaster_decision_log_bytes " +
                              std::to_string(bytes_of_log(folder())) + "\n"));
  EXPECT_THAT(text, HasSubstr("yardmaster_decision_log_writing 1\n"));
  ServerOptions without = options_for("las");
  without.log.folder.clear();
  const Server silent(without);
  text = httplib::Client("http://" + silent.http_address()).Get("/metrics")->body;
  EXPECT_EQ(text.find("yardmaster_decision_log_bytes "), std::string::npos);
  EXPECT_FALSE(silent.log().has_value());
}

}  // namespace
}  // namespace yard::testing
