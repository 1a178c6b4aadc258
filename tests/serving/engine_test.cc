// Checks every reason for which the policy does not answer, caused by a real fault. An answer must
// come whatever hangs.
#include <gtest/gtest.h>

#include <fstream>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "policies/learned/checkpoint.h"
#include "serving/snapshot/guard.h"
#include "tests/serving/engine_calls.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

// The decision of las for full_cluster().
constexpr const char* kHeuristic = "PREEMPT long\nSTART fresh n0x8\n";

void expect_heuristic(const pb::DecideResponse& answer, pb::Reason reason) {
  EXPECT_EQ(pb::Source_Name(answer.source()), "HEURISTIC") << answer.detail();
  EXPECT_EQ(pb::Reason_Name(answer.reason()), pb::Reason_Name(reason)) << answer.detail();
  EXPECT_EQ(lines_of(answer), kHeuristic);
  EXPECT_EQ(answer.decided_by(), "las");
  EXPECT_FALSE(answer.detail().empty());
}

TEST(Engine, PolicyAnswers) {
  EngineFixture fixture("greedy");
  pb::DecideRequest request = full_cluster();
  request.set_request_id("full");
  const pb::DecideResponse answer = ask_engine(fixture.engine, request);
  EXPECT_EQ(answer.source(), pb::POLICY);
  EXPECT_EQ(answer.reason(), pb::NONE);
  EXPECT_EQ(answer.actions_size(), 0);  // las would act
  EXPECT_EQ(answer.request_id(), "full");
  EXPECT_EQ(answer.model(), "greedy");
  EXPECT_FALSE(answer.decision_id().empty());
  EXPECT_EQ(fixture.seen, 1);
  EXPECT_EQ(fixture.engine.pending_requests(), 0);
}

TEST(Engine, PreemptionsAreLimited) {
  EngineOptions options;
  options.preemptions = {.interval_s = 600, .gpu_share = 0.5, .per_job = 6, .min_run_s = 60};
  EngineFixture fixture("las", options);
  pb::DecideRequest request = cluster_of(4);
  for (int i = 0; i < 4; ++i) {
    add_running(request, "long-" + std::to_string(i), 8, "n" + std::to_string(i));
    add_waiting(request, "fresh-" + std::to_string(i), 8);
  }
  const auto preemptions = [](const pb::DecideResponse& answer) {
    return std::ranges::count_if(answer.actions(),
                                 [](const auto& one) { return one.verb() == pb::PREEMPT; });
  };
  const pb::DecideResponse first = ask_engine(fixture.engine, request);
  EXPECT_EQ(first.source(), pb::POLICY);
  EXPECT_EQ(first.reason(), pb::PREEMPTION_LIMIT);
  EXPECT_EQ(first.detail(), "it wanted to preempt jobs with 32 GPUs at once, of at most 16");
  EXPECT_EQ(preemptions(first), 2);
  // An answer that got lost can be had again.
  const pb::DecideResponse again = ask_engine(fixture.engine, request);
  EXPECT_EQ(lines_of(again), lines_of(first));
  // It is carried out: nothing is left of the share, and the policy knows.
  for (const pb::Action& action : first.actions()) {
    for (pb::Job& job : *request.mutable_jobs()) {
      if (job.id() != action.job()) continue;
      job.set_state(action.verb() == pb::PREEMPT ? pb::WAITING : pb::RUNNING);
      *job.mutable_placement() = action.pieces();
    }
  }
  const pb::DecideResponse second = ask_engine(fixture.engine, request);
  EXPECT_EQ(second.source(), pb::POLICY);
  EXPECT_EQ(second.reason(), pb::NONE);
  EXPECT_EQ(preemptions(second), 0);
  request.set_time_s(request.time_s() + 600);
  EXPECT_EQ(preemptions(ask_engine(fixture.engine, request)), 2);
}

TEST(Engine, FallsBackWithoutAModel) {
  EngineFixture none("");
  expect_heuristic(ask_engine(none.engine, full_cluster()), pb::NO_MODEL);
  EngineFixture other("greedy");
  pb::DecideRequest request = full_cluster();
  request.set_model("nobody");
  expect_heuristic(ask_engine(other.engine, request), pb::NO_MODEL);
  request.set_model("greedy");
  EXPECT_EQ(ask_engine(other.engine, request).source(), pb::POLICY);
}

TEST(Engine, FallsBackOnPolicyErrors) {
  EngineFixture illegal("test-illegal"), throws("test-throws"), non_finite("test-not-finite");
  expect_heuristic(ask_engine(illegal.engine, full_cluster()), pb::INVALID_ACTION);
  expect_heuristic(ask_engine(throws.engine, full_cluster()), pb::POLICY_ERROR);
  expect_heuristic(ask_engine(non_finite.engine, full_cluster()), pb::NON_FINITE);
}

// A policy remembers what it saw of a cluster, whose manager may then send what changed.
TEST(Engine, RemembersClustersAndFollowsDeltas) {
  EngineFixture fixture("survival");
  pb::DecideRequest request = full_cluster();
  request.set_cluster("lab");
  request.set_state_version(1);
  EXPECT_TRUE(ask_engine(fixture.engine, request).rebuilt());
  EXPECT_EQ(fixture.engine.cluster_memories().count(), 1U);
  pb::DecideRequest delta;
  delta.set_cluster("lab");
  delta.set_time_s(request.time_s() + 1);
  delta.set_base_version(1);
  delta.set_state_version(2);
  const pb::DecideResponse next = ask_engine(fixture.engine, delta);
  EXPECT_EQ(next.source(), pb::POLICY) << next.detail();
  EXPECT_FALSE(next.rebuilt());
  EXPECT_EQ(next.state_version(), 2U);
  delta.set_base_version(7);
  delta.set_state_version(8);
  const pb::DecideResponse lost = ask_engine(fixture.engine, delta);
  EXPECT_EQ(lost.source(), pb::SAFE_DEFAULT);
  EXPECT_EQ(pb::Reason_Name(lost.reason()), "STALE_STATE");
  EXPECT_NE(lost.detail().find("send a full snapshot"), std::string::npos);
  request.set_cluster("other");
  EXPECT_TRUE(ask_engine(fixture.engine, request).rebuilt());
  EXPECT_EQ(fixture.engine.cluster_memories().count(), 2U);
}

TEST(Engine, FallsBackOnOversizedRequests) {
  EngineFixture fixture("greedy", {.max_jobs = 1});
  expect_heuristic(ask_engine(fixture.engine, full_cluster()), pb::TOO_LARGE);
}

TEST(Engine, SafeDefaultAnswersIfAllElseFails) {
  EngineFixture fixture("test-throws", {.fallback = "test-illegal"});
  const pb::DecideResponse answer = ask_engine(fixture.engine, full_cluster());
  EXPECT_EQ(answer.source(), pb::SAFE_DEFAULT);
  EXPECT_EQ(answer.reason(), pb::POLICY_ERROR);
  EXPECT_EQ(answer.actions_size(), 0);
  EXPECT_EQ(answer.decided_by(), "");
}

TEST(Engine, HangingHeuristicGivesTheSafeDefault) {
  start_hanging();
  auto fixture = std::make_unique<EngineFixture>(
      "greedy", EngineOptions{.fallback = "test-hangs", .budget_ms = 20});
  // The heuristic hangs, so that the safe default answers.
  std::promise<pb::DecideResponse> answer;
  pb::DecideRequest request = full_cluster();
  request.set_model("nobody");  // only the heuristic is asked
  fixture->engine.submit(incoming(request, answer));
  const pb::DecideResponse got = answer.get_future().get();
  EXPECT_EQ(got.source(), pb::SAFE_DEFAULT);
  EXPECT_EQ(got.reason(), pb::NO_MODEL);
  fixture.reset();  // does not wait for the heuristic
  stop_hanging();
}

TEST(Engine, HangingPolicyCostsDeadlinesUntilTheQueueIsFull) {
  start_hanging();
  auto fixture =
      std::make_unique<EngineFixture>("test-hangs", EngineOptions{.threads = 2, .budget_ms = 500});
  // Each of the first two requests blocks a thread. Later ones are answered without a deadline.
  int late = 0;
  for (int i = 0; i < 50; ++i) {
    const pb::DecideResponse answer = ask_engine(fixture->engine, full_cluster());
    EXPECT_EQ(answer.source(), pb::HEURISTIC);
    EXPECT_EQ(lines_of(answer), kHeuristic);
    late += answer.reason() == pb::DEADLINE;
    if (i >= 2) {
      EXPECT_EQ(answer.reason(), pb::QUEUE_FULL) << "request " << i;
    }
  }
  EXPECT_EQ(late, 2);
  EXPECT_EQ(fixture->engine.num_stuck(), 2);
  // The threads return, and the policy answers again.
  stop_hanging();
  while (fixture->engine.num_stuck() > 0) std::this_thread::yield();
  EXPECT_EQ(ask_engine(fixture->engine, full_cluster()).source(), pb::POLICY);
  start_hanging();
  expect_heuristic(ask_engine(fixture->engine, full_cluster()), pb::DEADLINE);
  fixture.reset();  // does not wait for the thread that hangs
  stop_hanging();
}

TEST(Engine, CallersDeadlineIsRespected) {
  start_hanging();
  EngineFixture fixture("test-hangs", {.threads = 1, .budget_ms = 3.6e6});
  pb::DecideRequest request = full_cluster();
  expect_heuristic(ask_engine(fixture.engine, request, std::chrono::milliseconds(100)),
                   pb::DEADLINE);
  stop_hanging();
  while (fixture.engine.num_stuck() > 0) std::this_thread::yield();
  start_hanging();
  request.set_budget_ms(50);
  expect_heuristic(ask_engine(fixture.engine, request), pb::DEADLINE);
  stop_hanging();
}

TEST(Engine, ManyThreadsEachGetTheirOwnAnswer) {
  EngineFixture fixture("las", {.max_waiting = 1000, .budget_ms = 60'000});
  std::vector<std::thread> callers;
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&fixture, t] {
      for (int i = 0; i < 100; ++i) {
        pb::DecideRequest request = full_cluster();
        request.set_request_id(std::to_string(t) + "/" + std::to_string(i));
        const pb::DecideResponse answer = ask_engine(fixture.engine, request);
        EXPECT_EQ(answer.request_id(), request.request_id());
        EXPECT_EQ(answer.source(), pb::POLICY);
        EXPECT_EQ(lines_of(answer), kHeuristic);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(fixture.seen, 800);
}

TEST(Engine, RejectsInvalidClustersAndUnservablePolicies) {
  EngineFixture fixture("las");
  EXPECT_THROW(ask_engine(fixture.engine, pb::DecideRequest()), InputError);
  EXPECT_EQ(fixture.engine.pending_requests(), 0);
  EXPECT_THROW(EngineFixture("srtf"), InputError);  // an oracle
  EXPECT_THROW(EngineFixture("nobody"), InputError);
  EXPECT_THROW(EngineFixture("las", {.fallback = "srtf"}), InputError);
}

// --- the model's files ---------------------------------------------------------------------------

void damage(const std::filesystem::path& file) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(-3, std::ios::end);
  stream.put('\x7f');
}

TEST(ModelStore, DamagedFilesLeaveTheModelInService) {
  const TempFolder temp;
  const auto folder = temp.path() / "pilot";
  write_checkpoint(folder, 1);
  EngineFixture fixture("checkpoint:" + folder.string());
  const pb::DecideResponse before = ask_engine(fixture.engine, full_cluster());
  EXPECT_EQ(before.source(), pb::POLICY) << before.detail();
  EXPECT_EQ(before.model(), "pilot");
  EXPECT_EQ(before.model_digest().size(), 64u);

  fixture.models.reload_if_changed();
  EXPECT_EQ(fixture.models.first_model_status().loads, 1u) << "nothing has changed";
  damage(folder / "model.safetensors");
  fixture.models.reload_if_changed();
  EXPECT_EQ(fixture.models.first_model_status().refused, pb::MODEL_CORRUPT);
  EXPECT_NE(fixture.models.first_model_status().refused_detail.find("model.safetensors"),
            std::string::npos);
  const pb::DecideResponse during = ask_engine(fixture.engine, full_cluster());
  EXPECT_EQ(during.source(), pb::POLICY) << during.detail();
  EXPECT_EQ(during.model_digest(), before.model_digest());

  write_checkpoint(folder, 2);
  fixture.models.reload_if_changed();
  const pb::DecideResponse after = ask_engine(fixture.engine, full_cluster());
  EXPECT_EQ(after.source(), pb::POLICY) << after.detail();
  EXPECT_NE(after.model_digest(), before.model_digest());
  EXPECT_EQ(fixture.models.first_model_status().refused, pb::NONE);
}

TEST(ModelStore, EveryKindOfDamageIsDetected) {
  const std::vector<std::pair<std::string, std::function<void(const std::filesystem::path&)>>>
      kinds = {
          {"golden.safetensors", [](const auto& f) { damage(f / "golden.safetensors"); }},
          {"golden.safetensors",
           [](const auto& f) { std::filesystem::remove(f / "golden.safetensors"); }},
          {"model.safetensors",
           [](const auto& f) { std::filesystem::resize_file(f / "model.safetensors", 9); }},
          {"manifest.json",
           [](const auto& f) { std::filesystem::resize_file(f / "manifest.json", 40); }},
          {"manifest.json", [](const auto& f) { std::ofstream(f / "manifest.json") << "{}"; }},
          {"manifest.json", [](const auto& f) { std::filesystem::remove_all(f); }},
      };
  for (const auto& [file, corrupt] : kinds) {
    const TempFolder temp;
    const auto folder = temp.path() / "pilot";
    write_checkpoint(folder, 1);
    EngineFixture fixture("checkpoint:" + folder.string());
    corrupt(folder);
    fixture.models.reload_if_changed();
    const ModelStore::Status now = fixture.models.first_model_status();
    EXPECT_EQ(pb::Reason_Name(now.refused), "MODEL_CORRUPT") << file;
    EXPECT_NE(now.refused_detail.find(file), std::string::npos) << now.refused_detail;
    EXPECT_NE(now.current.model, nullptr);
  }
}

TEST(ModelStore, LoadsNewVersionsAndKeepsTheLastGoodOne) {
  const TempFolder temp;
  const auto folder = temp.path() / "pilot";
  write_checkpoint(folder, 1);
  ModelStore store("checkpoint:" + folder.string() + "/", "");
  EXPECT_EQ(store.name(), "pilot");
  const std::string first = store.current().digest;
  write_checkpoint(folder, 2);
  store.reload();
  const std::string second = store.current().digest;
  EXPECT_NE(first, second);
  EXPECT_EQ(store.status().loads, 2u);

  // Intact, but of a later format version.
  std::string manifest = read_file(folder / "manifest.json");
  const std::string version = "\"format_version\": 1";
  manifest.replace(manifest.find(version), version.size(), "\"format_version\": 99");
  std::ofstream(folder / "manifest.json") << manifest;
  store.reload();
  const ModelStore::Status status = store.status();
  EXPECT_NE(status.current.model, nullptr);
  EXPECT_EQ(status.current.digest, second);
  EXPECT_EQ(status.refused, pb::MODEL_INCOMPATIBLE);
  EXPECT_NE(status.refused_detail.find("format_version"), std::string::npos);
  EXPECT_EQ(status.refusals, 1u);

  // A server that starts with it has no earlier version to keep.
  const ModelStore fresh("checkpoint:" + folder.string(), "");
  EXPECT_EQ(fresh.current().reason, pb::MODEL_INCOMPATIBLE);
}

TEST(ModelStore, MismatchedGoldenOutputsAreRejected) {
  const TempFolder temp;
  write_checkpoint(temp.path() / "a", 1);
  Checkpoint checkpoint = load_checkpoint(temp.path() / "a");
  checkpoint.golden.at("logits").data[0] += 0.5F;
  save_checkpoint(checkpoint, temp.path() / "b");
  const ModelStore store("checkpoint:" + (temp.path() / "b").string(), "");
  EXPECT_EQ(store.current().reason, pb::MODEL_INCOMPATIBLE);
  EXPECT_NE(store.current().detail.find("recorded output"), std::string::npos);
}

TEST(ModelStore, MissingModelIsRejectedAndDamagedOneReported) {
  const TempFolder temp;
  EXPECT_THROW(ModelStore("checkpoint:" + (temp.path() / "nowhere").string(), ""), InputError);
  write_checkpoint(temp.path() / "pilot", 1);
  damage(temp.path() / "pilot" / "model.safetensors");
  const ModelStore store("checkpoint:" + (temp.path() / "pilot").string(), "prod");
  EXPECT_EQ(store.name(), "prod");
  EXPECT_EQ(store.current().reason, pb::MODEL_CORRUPT);
}

TEST(Engine, NoRequestIsLostWhileModelsAreSwapped) {
  const TempFolder temp;
  const auto folder = temp.path() / "pilot";
  write_checkpoint(folder, 1);
  EngineFixture fixture("checkpoint:" + folder.string(), {.budget_ms = 60'000});
  std::atomic<bool> ended = false;
  std::thread swapper([&] {
    for (uint64_t seed = 2; seed < 12; ++seed) {
      write_checkpoint(folder, seed);
      fixture.models.reload();
    }
    ended = true;
  });
  while (!ended) {
    const pb::DecideResponse answer = ask_engine(fixture.engine, full_cluster());
    EXPECT_EQ(answer.source(), pb::POLICY) << answer.detail();
    EXPECT_EQ(flaw_of_decision(full_cluster(), answer), "");
  }
  swapper.join();
  EXPECT_EQ(fixture.models.first_model_status().loads, 11u);
}

}  // namespace
}  // namespace yard::testing
