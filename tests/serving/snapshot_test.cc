// Checks snapshots: impossible ones are refused with the field, possible ones become states that
// keep every invariant, and a simulated state comes back unchanged.
#include "serving/snapshot/snapshot.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "env/base/files/file.h"
#include "env/sim/rules/digest.h"
#include "serving/engine/model_store.h"
#include "serving/snapshot/cluster_memory.h"
#include "serving/snapshot/export.h"
#include "serving/snapshot/json.h"
#include "serving/snapshot/required_fields.h"
#include "serving/snapshot/run_policy.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string error_of(const pb::DecideRequest& request) {
  try {
    const Snapshot snapshot(request);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

// "a" fills n0, "b" has 4 GPUs of n1, "w" waits.
pb::DecideRequest valid_request() {
  pb::DecideRequest request = cluster_of(2);
  add_running(request, "a", 8, "n0");
  add_running(request, "b", 4, "n1");
  add_waiting(request, "w", 8);
  return request;
}

TEST(Snapshot, RefusesContradictions) {
  ASSERT_EQ(error_of(valid_request()), "");
  struct Case {
    const char* says;
    void (*corrupt)(pb::DecideRequest&);
  };
  const Case cases[] = {
      {"time_s from 0", [](auto& r) { r.set_time_s(-1); }},
      {"got NaN", [](auto& r) { r.set_time_s(kNan); }},
      {"got inf", [](auto& r) { r.set_time_s(std::numeric_limits<double>::infinity()); }},
      {"nodes: expected 1 to", [](auto& r) { r.clear_nodes(); }},
      {"nodes[1] 'n0': expected unique names", [](auto& r) { r.mutable_nodes(1)->set_name("n0"); }},
      {"jobs[2] 'a': expected unique ids", [](auto& r) { r.mutable_jobs(2)->set_id("a"); }},
      {"1 to 0 GPUs, those left on node 'n1', got 4",
       [](auto& r) { r.mutable_jobs(0)->mutable_placement(0)->set_node("n1"); }},
      {"GPUs that no other job holds, got 'n1' GPU 3",
       [](auto& r) {
         pb::Job& c = *r.add_jobs() = r.jobs(1);
         c.set_id("c");
         for (const uint32_t gpu : {0U, 1U, 2U, 3U}) {
           r.mutable_jobs(1)->mutable_placement(0)->add_gpu_ids(gpu);
           c.mutable_placement(0)->add_gpu_ids(gpu + 3);
         }
       }},
      {"costs: expected save_s", [](auto& r) { r.mutable_costs()->set_save_s(kNan); }},
      {"expected a full snapshot", [](auto& r) { r.set_base_version(7); }},
      {"expected a full snapshot", [](auto& r) { r.add_removed_jobs("w"); }},
      {"START in the list", [](auto& r) { r.add_allowed(pb::PREEMPT); }},
      {"allowed: expected START or PREEMPT",
       [](auto& r) { r.add_allowed(static_cast<pb::Verb>(9)); }},
  };
  for (const Case& one : cases) {
    pb::DecideRequest request = valid_request();
    one.corrupt(request);
    const std::string error = error_of(request);
    EXPECT_NE(error.find(one.says), std::string::npos)
        << "expected: " << one.says << "\ngot: " << error;
  }
}

// Each request has one odd record, beside a job that fits: it starts.
TEST(Snapshot, SetsOddRecordsAsideAndDecidesForTheRest) {
  struct Case {
    pb::Quarantined::Record record;
    const char* says;
    void (*corrupt)(pb::DecideRequest&);
  };
  const Case cases[] = {
      {pb::Quarantined::NODE, "no name", [](auto& r) { r.mutable_nodes(1)->clear_name(); }},
      {pb::Quarantined::NODE, "expected 1 to 64 GPUs, got 0",
       [](auto& r) { r.mutable_nodes(0)->set_gpus(0); }},
      {pb::Quarantined::NODE, "1 to 64 GPUs, got 65",
       [](auto& r) { r.mutable_nodes(0)->set_gpus(65); }},
      {pb::Quarantined::NODE, "GPUs 0 to 7, got 8",
       [](auto& r) { r.mutable_nodes(0)->add_down(8); }},
      {pb::Quarantined::NODE, "GPUs 0 to 7, got 9",
       [](auto& r) { r.mutable_nodes(0)->add_vacating()->set_gpu(9); }},
      {pb::Quarantined::NODE, "vacating.until_s",
       [](auto& r) { r.mutable_nodes(0)->add_vacating()->set_until_s(-2); }},
      {pb::Quarantined::GPU_TYPE, "a speed from 0.001",
       [](auto& r) { r.add_gpu_types()->set_name("v100"); }},
      {pb::Quarantined::GPU_TYPE, "got model 'LM' with 0; that model has the speed of the type",
       [](auto& r) {
         pb::GpuType& type = *r.add_gpu_types();
         type.set_name("v100");
         type.set_speed(1);
         type.add_speed_of_model()->set_model("LM");
       }},
      {pb::Quarantined::JOB, "expected an id", [](auto& r) { r.mutable_jobs(2)->clear_id(); }},
      {pb::Quarantined::JOB, "expected state", [](auto& r) { r.mutable_jobs(2)->clear_state(); }},
      {pb::Quarantined::JOB, "expected 1 to 32 GPUs, the size of the cluster, got 0",
       [](auto& r) { r.mutable_jobs(2)->set_gpus(0); }},
      {pb::Quarantined::JOB, "1 to 32 GPUs, the size of the cluster, got 33",
       [](auto& r) { r.mutable_jobs(2)->set_gpus(33); }},
      {pb::Quarantined::JOB, "submit_s from 0",
       [](auto& r) { r.mutable_jobs(2)->set_submit_s(-5); }},
      {pb::Quarantined::JOB, "submit_s from 0",
       [](auto& r) { r.mutable_jobs(2)->set_submit_s(kNan); }},
      {pb::Quarantined::JOB, "submit_s up to time_s",
       [](auto& r) { r.mutable_jobs(2)->set_submit_s(10'003); }},
      {pb::Quarantined::JOB, "attained_s from 0",
       [](auto& r) { r.mutable_jobs(0)->set_attained_s(-1); }},
      {pb::Quarantined::JOB, "attained_s of at most the time since submit_s",
       [](auto& r) { r.mutable_jobs(0)->set_attained_s(9999); }},
      {pb::Quarantined::JOB, "since_s up to time_s",
       [](auto& r) { r.mutable_jobs(0)->set_since_s(10'003); }},
      {pb::Quarantined::JOB, "limit_s from 0", [](auto& r) { r.mutable_jobs(2)->set_limit_s(-1); }},
      {pb::Quarantined::JOB, "until_s from 0",
       [](auto& r) { r.mutable_jobs(2)->set_until_s(kNan); }},
      {pb::Quarantined::JOB, "at most a million",
       [](auto& r) { r.mutable_jobs(2)->set_preemptions(4'000'000'000U); }},
      {pb::Quarantined::JOB, "a placement with all its 8 GPUs, got 0",
       [](auto& r) { r.mutable_jobs(0)->clear_placement(); }},
      {pb::Quarantined::JOB, "a placement with all its 8 GPUs, got 7",
       [](auto& r) { r.mutable_jobs(0)->mutable_placement(0)->set_gpus(7); }},
      {pb::Quarantined::JOB, "no placement for a waiting job",
       [](auto& r) { r.mutable_jobs(2)->add_placement()->set_node("n1"); }},
      {pb::Quarantined::JOB, "a placement on nodes with GPUs, got 'n7'",
       [](auto& r) { r.mutable_jobs(0)->mutable_placement(0)->set_node("n7"); }},
      {pb::Quarantined::JOB, "each node once",
       [](auto& r) { *r.mutable_jobs(1)->add_placement() = r.jobs(1).placement(0); }},
      {pb::Quarantined::JOB, "one gpu_id per GPU",
       [](auto& r) { r.mutable_jobs(1)->mutable_placement(0)->add_gpu_ids(1); }},
      {pb::Quarantined::JOB, "each GPU once, got 3 again",
       [](auto& r) {
         for (const uint32_t gpu : {3U, 3U, 4U, 5U}) {
           r.mutable_jobs(1)->mutable_placement(0)->add_gpu_ids(gpu);
         }
       }},
      {pb::Quarantined::JOB, "a GPU of node 'n1', got 8",
       [](auto& r) {
         for (const uint32_t gpu : {5U, 6U, 7U, 8U}) {
           r.mutable_jobs(1)->mutable_placement(0)->add_gpu_ids(gpu);
         }
       }},
      {pb::Quarantined::JOB, "GPUs on which no other job runs",
       [](auto& r) {
         r.mutable_jobs(2)->set_state(pb::STOPPING);
         *r.mutable_jobs(2)->add_placement() = r.jobs(0).placement(0);
       }},
      {pb::Quarantined::FINISHED_JOB, "expected GPUs, got 0", [](auto& r) { r.add_finished(); }},
      {pb::Quarantined::FINISHED_JOB, "expected run_s from 0",
       [](auto& r) {
         r.add_finished()->set_gpus(1);
         r.mutable_finished(0)->set_run_s(-3);
       }},
      // What jobs ask for.
      {pb::Quarantined::JOB, "shares of GPUs",
       [](auto& r) {
         pb::TaskGroup& group = *r.mutable_jobs(2)->add_groups();
         group.set_count(8);
         group.mutable_task()->set_gpu_milli(500);
       }},
      {pb::Quarantined::JOB, "those of its groups, 4",
       [](auto& r) {
         pb::TaskGroup& group = *r.mutable_jobs(2)->add_groups();
         group.set_count(4);
         group.mutable_task()->set_gpus(1);
       }},
      {pb::Quarantined::JOB, "min_count <= count <= max_count",
       [](auto& r) {
         pb::TaskGroup& group = *r.mutable_jobs(2)->add_groups();
         group.set_count(8);
         group.set_min_count(9);
         group.mutable_task()->set_gpus(1);
       }},
      {pb::Quarantined::JOB, "with 8 to 8 tasks of group 0, got 4",
       [](auto& r) {
         pb::Job& a = *r.mutable_jobs(0);
         pb::TaskGroup& group = *a.add_groups();
         group.set_count(8);
         group.mutable_task()->set_gpus(1);
         a.mutable_placement(0)->set_gpus(4);
       }},
      {pb::Quarantined::JOB, "a weight from 0",
       [](auto& r) { r.mutable_jobs(2)->set_weight(kNan); }},
      {pb::Quarantined::JOB, "deadlines by rising time",
       [](auto& r) {
         for (const double at_s : {20'000.0, 15'000.0}) {
           r.mutable_jobs(2)->add_dues()->set_at_s(at_s);
         }
       }},
      {pb::Quarantined::JOB, "it names nodes, which no policy",
       [](auto& r) { r.mutable_jobs(2)->add_excluded_nodes("n1"); }},
      {pb::Quarantined::JOB, "it shares its nodes with no other job",
       [](auto& r) { r.mutable_jobs(2)->set_exclusive(true); }},
      {pb::Quarantined::JOB, "its partition has only a part of the nodes",
       [](auto& r) {
         r.mutable_nodes(0)->add_partitions("gpu");
         r.mutable_nodes(1)->add_partitions("debug");
         r.mutable_jobs(2)->set_partition("gpu");
       }},
      {pb::Quarantined::NODE, "cpus from 0", [](auto& r) { r.mutable_nodes(1)->set_cpus(-1); }},
      {pb::Quarantined::NODE, "a tenant that `tenants` lists",
       [](auto& r) { r.mutable_nodes(1)->set_tenant("lab"); }},
  };
  for (const Case& one : cases) {
    pb::DecideRequest request = valid_request();
    one.corrupt(request);
    pb::Node& spare = *request.add_nodes();
    spare.set_name("spare");
    spare.set_gpus(16);
    add_waiting(request, "fits", 3);
    const Snapshot snapshot(request);
    const auto& listed = snapshot.quarantine().listed();
    ASSERT_GE(listed.size(), 1u) << one.says;
    EXPECT_EQ(listed[0].record(), one.record) << one.says;
    EXPECT_NE(listed[0].why().find(one.says), std::string::npos)
        << "expected: " << one.says << "\ngot: " << listed[0].why();
    ClusterMemory known;
    const SnapshotState live = known.next_state(snapshot);
    EXPECT_EQ(broken_invariant(live.fixed(), live.state()), "") << one.says;
    const PolicyResult answer = run_policy(*make_policy("greedy"), snapshot, request);
    EXPECT_EQ(answer.reason, pb::NONE) << answer.detail;
    EXPECT_EQ(answer.response.quarantined_size(), snapshot.quarantine().count());
    EXPECT_NE(lines_of(answer.response).find("START fits"), std::string::npos)
        << one.says << "\n"
        << lines_of(answer.response);
  }
}

// The right answers to snapshots that operators met.
TEST(Snapshot, KeepsTheGpusOfOddJobs) {
  // "a" says 8 GPUs and names 4: these are not given to another job, and "a" is not preempted.
  pb::DecideRequest request = valid_request();
  request.mutable_jobs(0)->mutable_placement(0)->set_gpus(4);
  const Snapshot snapshot(request);
  ASSERT_EQ(snapshot.quarantine().count(), 1);
  EXPECT_TRUE(snapshot.quarantine().listed()[0].keeps_gpus());
  ClusterMemory known;
  const SnapshotState live = known.next_state(snapshot);
  const View view(live.fixed(), live.state(), InformationLevel::kBlind);
  EXPECT_EQ(view.node_free_gpus(0), 4);
  int pinned = 0;
  for (const int32_t slot : view.holder_slots()) pinned += !view.preemptible(slot);
  EXPECT_EQ(pinned, 1);
}

TEST(Snapshot, TakesTimesALittleAheadAsNow) {
  pb::DecideRequest request = valid_request();
  request.mutable_jobs(2)->set_submit_s(request.time_s() + 0.4);
  request.mutable_jobs(0)->set_since_s(request.time_s() + 0.2);
  request.mutable_jobs(0)->set_attained_s(request.time_s() - request.jobs(0).submit_s() + 0.5);
  pb::FinishedJob& ended = *request.add_finished();
  ended.set_gpus(64);  // when the cluster was larger
  ended.set_end_s(request.time_s() + 0.4);
  const Snapshot snapshot(request);
  EXPECT_EQ(snapshot.quarantine().count(), 0);
  ClusterMemory known;
  const SnapshotState live = known.next_state(snapshot);
  EXPECT_EQ(broken_invariant(live.fixed(), live.state()), "");
}

TEST(Snapshot, JobsWithoutGpuNumbersKeepFailedGpus) {
  pb::DecideRequest request = cluster_of(1);
  request.mutable_nodes(0)->add_down(3);
  add_running(request, "r", 4, "n0");
  add_running(request, "s", 4, "n0");
  add_waiting(request, "a", 1);
  const Snapshot snapshot(request);
  EXPECT_EQ(snapshot.quarantine().count(), 0);
  ClusterMemory known;
  const SnapshotState live = known.next_state(snapshot);
  EXPECT_EQ(broken_invariant(live.fixed(), live.state()), "");
  for (const char* name : {"fifo", "las", "greedy"}) {
    const PolicyResult answer = run_policy(*make_policy(name), snapshot, request);
    EXPECT_EQ(answer.reason, pb::NONE) << answer.detail;
  }
}

TEST(Snapshot, NamesAtMostAHundredOddRecords) {
  pb::DecideRequest request = valid_request();
  for (int i = 0; i < 300; ++i)
    add_waiting(request, std::string(2'000, 'x') + std::to_string(i), 1);
  const Snapshot snapshot(request);
  EXPECT_EQ(snapshot.quarantine().count(), 300);
  ASSERT_EQ(snapshot.quarantine().listed().size(), 100u);
  EXPECT_LT(snapshot.quarantine().listed()[0].id().size(), 100u);
}

TEST(Snapshot, RejectsOversizedSnapshots) {
  pb::DecideRequest request = cluster_of(kMaxSnapshotNodes + 1);
  EXPECT_NE(error_of(request).find("nodes: expected 1 to"), std::string::npos);
  request = cluster_of(1);
  for (int i = 0; i <= kMaxJobs; ++i) request.add_jobs();
  EXPECT_NE(error_of(request).find("jobs: expected at most"), std::string::npos);
}

TEST(Snapshot, ExcludesGpusThatAreDown) {
  pb::DecideRequest request = cluster_of(3);
  for (uint32_t gpu = 0; gpu < 8; ++gpu) request.mutable_nodes(0)->add_down(gpu);
  request.mutable_nodes(1)->add_down(2);
  request.mutable_nodes(1)->add_down(5);
  pb::Job& job = add_running(request, "a", 2, "n1");
  for (const uint32_t gpu : {2U, 7U}) job.mutable_placement(0)->add_gpu_ids(gpu);
  add_waiting(request, "w", 24);  // more GPUs than are up: it waits
  const Snapshot snapshot(request);
  // n0 is left out. n1 keeps GPU 2, which is down but in use, and loses GPU 5.
  ASSERT_EQ(snapshot.spec().num_nodes, 2);
  EXPECT_EQ(snapshot.spec().node_gpus[0], 7);
  EXPECT_EQ(snapshot.spec().node_gpus[1], 8);
  ClusterMemory known;
  const SnapshotState live = known.next_state(snapshot);
  EXPECT_EQ(broken_invariant(live.fixed(), live.state()), "");
  const View view(live.fixed(), live.state(), InformationLevel::kBlind);
  ASSERT_EQ(view.num_holders(), 1);
  // GPU 2 is the third of seven, GPU 7 the last. A job on a GPU that is down cannot be preempted.
  EXPECT_EQ(view.part_mask(view.first_part(view.holder_slot(0))), uint64_t{0b1000100});
  EXPECT_FALSE(view.preemptible(view.holder_slot(0)));
}

TEST(Snapshot, PinsJobsThatMayNotBePreempted) {
  pb::DecideRequest request = full_cluster();
  const auto las = make_policy("las");
  EXPECT_EQ(lines_of(run_policy(*las, Snapshot(request), request).response),
            "PREEMPT long\nSTART fresh n0x8\n");
  for (const bool pinned : {true, false}) {
    pb::DecideRequest restricted = full_cluster();
    if (pinned) {
      restricted.mutable_jobs(0)->set_pinned(true);
    } else {
      restricted.add_allowed(pb::START);
    }
    const PolicyResult answer = run_policy(*las, Snapshot(restricted), restricted);
    EXPECT_EQ(answer.reason, pb::NONE) << answer.detail;
    EXPECT_EQ(answer.response.actions_size(), 0);
  }
}

TEST(Snapshot, StartWaitsForStoppingJobs) {
  pb::DecideRequest request = cluster_of(1);
  pb::Job& stopping = add_waiting(request, "s", 8);
  stopping.set_state(pb::STOPPING);
  stopping.set_until_s(10'007);
  stopping.set_attained_s(5);
  pb::Piece& piece = *stopping.add_placement();
  piece.set_node("n0");
  piece.set_gpus(8);
  add_waiting(request, "w", 8);
  const Snapshot snapshot(request);
  ClusterMemory known;
  SnapshotState live = known.next_state(snapshot);
  EXPECT_EQ(broken_invariant(live.fixed(), live.state()), "");
  const View view(live.fixed(), live.state(), InformationLevel::kBlind);
  Draft draft(live.fixed(), live.state());
  const Piece all{0, 8};
  const int32_t w = view.queue_head();
  ASSERT_TRUE(draft.start(w, &all, 1));
  EXPECT_EQ(view.phase(w), Phase::kStarting);
  EXPECT_EQ(view.transition_end_us(w), 10'007 * kSecond);
}

TEST(Snapshot, ClusterThatIsDownGetsNoActions) {
  pb::DecideRequest request = cluster_of(1);
  for (uint32_t gpu = 0; gpu < 8; ++gpu) request.mutable_nodes(0)->add_down(gpu);
  add_waiting(request, "w", 8);
  for (const char* name : {"fifo", "greedy", "las"}) {
    const PolicyResult answer = run_policy(*make_policy(name), Snapshot(request), request);
    EXPECT_EQ(answer.reason, pb::NONE) << answer.detail;
    EXPECT_EQ(answer.response.actions_size(), 0);
  }
}

TEST(Snapshot, ExampleDecisionsMatchTheTable) {
  const std::map<std::string, std::map<std::string, std::string>> expected = {
      {"idle",
       {{"greedy", "START bert n0x8\nSTART resnet n1x4\nSTART probe n1x4\n"},
        {"las", "START bert n0x8\nSTART resnet n1x4\nSTART probe n1x4\n"}}},
      // `half` on 4 GPUs attains 3,250 GPU-seconds, from 800, in (3,250 - 800) / 4 = 612.5 s.
      {"blocked_head", {{"greedy", "START slim n0x2\n"}, {"las", "START slim n0x2\nwake 612.5\n"}}},
      {"preempt", {{"greedy", ""}, {"las", "PREEMPT long\nSTART fresh n0x8\n"}}}};
  for (const auto& [name, by_policy] : expected) {
    const std::string file = "experiments/snapshots/" + name + ".json";
    const pb::DecideRequest request = parse_snapshot(read_file(file), file);
    for (const auto& [policy, lines] : by_policy) {
      const PolicyResult answer = run_policy(*make_policy(policy), Snapshot(request), request);
      EXPECT_EQ(answer.reason, pb::NONE) << answer.detail;
      // A wake-up is rounded up to the microsecond.
      pb::DecideResponse response = answer.response;
      if (response.has_wake_after_s()) {
        response.set_wake_after_s(std::round(response.wake_after_s() * 1e3) / 1e3);
      }
      EXPECT_EQ(lines_of(response), lines) << file << " " << policy;
    }
  }
}

// `make demo` sends the snapshot idle.json to a network which it has trained.
TEST(Snapshot, TheIdleExampleHasTheFieldsThatAgentsNeed) {
  const std::string file = "experiments/snapshots/idle.json";
  const pb::DecideRequest request = parse_snapshot(read_file(file), file);
  for (const std::string agent : {"dl2-1", "harmony-1", "meta-1", "mlfs-1", "sched2-1"}) {
    const Model model = open_servable("checkpoint:checkpoints/" + agent);
    EXPECT_EQ(missing_field(model.snapshot_fields, request), "") << agent;
  }
}

TEST(Snapshot, JsonErrorsNameTheFile) {
  for (const char* json : {"", "{", "[]", "{\"nodez\": []}", "{\"jobs\": [{\"gpus\": -1}]}",
                           "{\"jobs\": [{\"state\": \"SLEEPING\"}]}", "{\"time_s\": \"soon\"}"}) {
    try {
      parse_snapshot(json, "queue.json");
      ADD_FAILURE() << json;
    } catch (const InputError& error) {
      EXPECT_EQ(
          std::string(error.what()).rfind("queue.json: expected a yardmaster.v1.DecideRequest", 0),
          0u)
          << error.what();
    }
  }
}

// What a policy sees of each job, by id.
std::map<std::string, std::string> seen(const View& view, const std::vector<std::string>& id_of) {
  std::map<std::string, std::string> out;
  for (int32_t slot = 0; slot < view.slot_high_water(); ++slot) {
    const Phase phase = view.phase(slot);
    if (phase == Phase::kFree || phase == Phase::kDone) continue;
    std::string& line = out[id_of[static_cast<size_t>(view.serial(slot))]];
    const bool timed = phase == Phase::kStarting || phase == Phase::kStopping;
    for (const int64_t part :
         {static_cast<int64_t>(phase), static_cast<int64_t>(view.gpus(slot)), view.submit_us(slot),
          view.phase_or_rate_since_us(slot), timed ? view.transition_end_us(slot) : 0,
          view.attained_us(slot), static_cast<int64_t>(view.times_preempted(slot)),
          static_cast<int64_t>(view.times_started(slot))}) {
      line += std::to_string(part) + " ";
    }
    for (int32_t p = view.first_part(slot); p != kNone; p = view.next_part(p)) {
      line += std::to_string(view.part_node(p)) + ":" + std::to_string(view.part_mask(p)) + " ";
    }
  }
  int rank = 0;
  for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
    out[id_of[static_cast<size_t>(view.serial(slot))]] += "queued " + std::to_string(++rank);
  }
  return out;
}

TEST(Snapshot, SimulatedStateRoundTrips) {
  const std::string cluster = "2x8:v100+3x4:k80";
  const ClusterSpec spec = load_cluster(cluster);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Scene scene(cluster, random_jobs(Rng{seed}, {.count = 60, .mean_gap_s = 60}));
    const auto policy = make_policy("las limit_1_gpu_s=400 limit_2_gpu_s=2000");
    SceneRunner runner(scene, *policy);
    while (runner.step()) {
      const pb::DecideRequest request =
          to_request(spec, scene.jobs(), scene.fixed(), runner.state(), {});
      ASSERT_EQ(parse_snapshot(to_json(request), "test").SerializeAsString(),
                request.SerializeAsString());
      const Snapshot snapshot(request);
      ClusterMemory known;
      const SnapshotState live = known.next_state(snapshot);
      ASSERT_EQ(broken_invariant(live.fixed(), live.state()), "");
      std::vector<std::string> ids, all_ids;
      for (const pb::Job& job : request.jobs()) ids.push_back(job.id());
      for (const Job& job : scene.jobs()) all_ids.push_back(job.id);
      const View view(live.fixed(), live.state(), InformationLevel::kBlind);
      ASSERT_EQ(seen(view, ids), seen(runner.view(), all_ids));
      ASSERT_EQ(view.num_changed(), view.num_live());
      ASSERT_EQ(view.free_gpus(), runner.view().free_gpus());
      ASSERT_EQ(view.now_us(), runner.view().now_us());
    }
  }
}

}  // namespace
}  // namespace yard::testing
