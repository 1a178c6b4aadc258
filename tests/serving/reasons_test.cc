// Each reason of an answer is provoked once, by a fault of its own. A reason that is added to the
// interface fails this test until it is provoked, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "policies/learned/checkpoint.h"
#include "serving/net/client.h"
#include "serving/snapshot/workload.h"
#include "tests/serving/engine_calls.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kShort{50};

EngineOptions in_time() {
  EngineOptions options;
  options.budget_ms = 60'000;
  return options;
}

pb::DecideResponse answer_of_a_policy(const std::string& policy, EngineOptions options,
                                      const pb::DecideRequest& request) {
  EngineFixture fixture(policy, options);
  return ask_engine(fixture.engine, request);
}

pb::DecideResponse answer_of_a_hanging_policy(int earlier) {
  start_hanging();
  EngineOptions options;
  options.threads = 1;
  options.budget_ms = 20;
  auto fixture = std::make_unique<EngineFixture>("test-hangs", options);
  for (int i = 0; i < earlier; ++i) ask_engine(fixture->engine, full_cluster());
  pb::DecideResponse out = ask_engine(fixture->engine, full_cluster());
  fixture.reset();
  stop_hanging();
  return out;
}

// Answers with a checkpoint that `spoil` has changed before the server opened it.
pb::DecideResponse answer_of_a_checkpoint(const std::function<void(const fs::path&)>& spoil) {
  const TempFolder temp;
  const fs::path folder = temp.path() / "model";
  write_checkpoint(folder, 1);
  spoil(folder);
  return answer_of_a_policy("checkpoint:" + folder.string(), in_time(), full_cluster());
}

void claim_a_later_format(const fs::path& folder) {
  std::ifstream in(folder / "manifest.json");
  auto manifest = nlohmann::ordered_json::parse(in);
  manifest["format_version"] = 99;
  std::ofstream(folder / "manifest.json") << manifest.dump();
}

void train_on_small_jobs(const fs::path& folder) {
  Envelope envelope;
  pb::DecideRequest request = cluster_of(1);
  add_waiting(request, "small", 1);
  envelope.add(workload_of(Snapshot(request)));
  save_envelope(envelope, folder);
}

pb::DecideResponse answer_after_mode(pb::Mode mode) {
  EngineFixture fixture(mode == pb::MODE_CANARY ? "" : "greedy", in_time());
  pb::SetModeRequest request;
  request.set_mode(mode);
  request.set_share(1e-9);
  if (mode == pb::MODE_CANARY) fixture.models.load_candidate("", "greedy");
  fixture.models.set_mode(request);
  return ask_engine(fixture.engine, full_cluster());
}

pb::DecideResponse answer_to_an_idle_policy() {
  EngineOptions options = in_time();
  options.max_idle_s = 60;
  EngineFixture fixture("test-idles", options);
  pb::DecideRequest request = cluster_of(1);
  add_waiting(request, "fits", 1);
  ask_engine(fixture.engine, request);
  request.set_time_s(request.time_s() + 61);
  return ask_engine(fixture.engine, request);
}

pb::DecideResponse answer_of_an_open_breaker() {
  EngineOptions options = in_time();
  options.breaker = {.at_least = 1, .open_s = 3600};
  EngineFixture fixture("test-throws", options);
  ask_engine(fixture.engine, full_cluster());
  return ask_engine(fixture.engine, full_cluster());
}

pb::DecideResponse answer_to_an_old_snapshot() {
  pb::DecideRequest request = full_cluster();
  request.set_age_s(3600);
  return answer_of_a_policy("greedy", in_time(), request);
}

pb::DecideResponse answer_with_a_starved_job() {
  pb::DecideRequest request = cluster_of(1);
  request.set_time_s(1e6);
  add_waiting(request, "old", 8).set_submit_s(0);
  return answer_of_a_policy("greedy", in_time(), request);
}

pb::DecideResponse answer_with_limited_preemptions() {
  EngineOptions options = in_time();
  options.preemptions.gpu_share = 0.5;
  pb::DecideRequest request = cluster_of(2);
  for (const char* node : {"n0", "n1"}) {
    add_running(request, std::string("long-") + node, 8, node);
    add_waiting(request, std::string("fresh-") + node, 8);
  }
  return answer_of_a_policy("las", options, request);
}

struct Expected {
  pb::Source source;
  std::function<pb::DecideResponse()> provoke;
};

std::map<pb::Reason, Expected> table() {
  const auto with = [](const std::string& policy, const EngineOptions& options) {
    return [=] { return answer_of_a_policy(policy, options, full_cluster()); };
  };
  EngineOptions small = in_time();
  small.max_jobs = 1;
  return {
      {pb::NONE, {pb::POLICY, with("greedy", in_time())}},
      {pb::DEADLINE, {pb::HEURISTIC, [] { return answer_of_a_hanging_policy(0); }}},
      {pb::QUEUE_FULL, {pb::HEURISTIC, [] { return answer_of_a_hanging_policy(3); }}},
      {pb::NO_MODEL, {pb::HEURISTIC, with("", in_time())}},
      {pb::MODEL_CORRUPT,
       {pb::HEURISTIC,
        [] {
          return answer_of_a_checkpoint(
              [](const fs::path& folder) { fs::resize_file(folder / "model.safetensors", 100); });
        }}},
      {pb::MODEL_INCOMPATIBLE,
       {pb::HEURISTIC, [] { return answer_of_a_checkpoint(claim_a_later_format); }}},
      {pb::INVALID_ACTION, {pb::HEURISTIC, with("test-illegal", in_time())}},
      {pb::NON_FINITE, {pb::HEURISTIC, with("test-not-finite", in_time())}},
      {pb::OUT_OF_DISTRIBUTION,
       {pb::HEURISTIC, [] { return answer_of_a_checkpoint(train_on_small_jobs); }}},
      {pb::TOO_LARGE, {pb::HEURISTIC, with("greedy", small)}},
      {pb::POLICY_ERROR, {pb::HEURISTIC, with("test-throws", in_time())}},
      {pb::UNAVAILABLE,
       {pb::CLIENT_HEURISTIC,
        [] {
          Client client({.to = {.servers = {"unix:/nowhere/at/all"}}});
          return client.decide(full_cluster(), kShort);
        }}},
      {pb::FEATURE_MISSING, {pb::HEURISTIC, with("sjf-estimate", in_time())}},
      {pb::BREAKER_OPEN, {pb::HEURISTIC, answer_of_an_open_breaker}},
      {pb::CONTROL, {pb::HEURISTIC, [] { return answer_after_mode(pb::MODE_CANARY); }}},
      {pb::OPERATOR, {pb::HEURISTIC, [] { return answer_after_mode(pb::MODE_OFF); }}},
      {pb::STALE_STATE, {pb::SAFE_DEFAULT, answer_to_an_old_snapshot}},
      {pb::STARVATION, {pb::HEURISTIC, answer_with_a_starved_job}},
      {pb::IDLE, {pb::HEURISTIC, answer_to_an_idle_policy}},
      {pb::PREEMPTION_LIMIT, {pb::POLICY, answer_with_limited_preemptions}},
  };
}

TEST(Reasons, EachIsProvokedAndNamesItsDecider) {
  const auto provoked = table();
  const auto* all = pb::Reason_descriptor();
  for (int i = 0; i < all->value_count(); ++i) {
    const auto reason = static_cast<pb::Reason>(all->value(i)->number());
    SCOPED_TRACE(all->value(i)->name());
    const auto found = provoked.find(reason);
    ASSERT_NE(found, provoked.end()) << "nothing provokes it";
    const pb::DecideResponse answer = found->second.provoke();
    EXPECT_EQ(pb::Reason_Name(answer.reason()), all->value(i)->name()) << answer.detail();
    EXPECT_EQ(pb::Source_Name(answer.source()), pb::Source_Name(found->second.source))
        << answer.detail();
    EXPECT_EQ(answer.detail().empty(), reason == pb::NONE) << "operators read why";
  }
}

// A caller whose deadline is all but over gets an answer nevertheless, if the heuristic fits.
TEST(Reasons, ADeadlineThatIsNearlyOverIsStillAnswered) {
  EngineFixture fixture("greedy", in_time());
  for (const int ms : {0, 1, 5}) {
    const pb::DecideResponse answer =
        ask_engine(fixture.engine, full_cluster(), std::chrono::milliseconds(ms));
    EXPECT_NE(answer.source(), pb::SOURCE_UNSPECIFIED) << ms;
    if (answer.source() != pb::POLICY) {
      EXPECT_EQ(answer.reason(), pb::DEADLINE) << ms << answer.detail();
    }
  }
}

}  // namespace
}  // namespace yard::testing
