// What the server remembers of a cluster between snapshots: slots, changes, and jobs that ended.
#include "serving/snapshot/cluster_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "env/sim/view/view.h"
#include "serving/snapshot/run_policy.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

// The ids of changed jobs with their phases: "w waits".
std::multiset<std::string> changes(const SnapshotState& live, const pb::DecideRequest& request) {
  constexpr const char* kPhases[] = {"free", "waits", "starts", "runs", "stops", "done", "blocked"};
  const View view(live.fixed(), live.state(), InformationLevel::kBlind);
  std::multiset<std::string> out;
  for (int32_t i = 0; i < view.num_changed(); ++i) {
    const int32_t slot = view.changed_slot(i), entry = live.request_index(slot);
    out.insert((entry == kNone ? "" : request.jobs(entry).id() + " ") +
               kPhases[static_cast<size_t>(view.phase(slot))]);
  }
  return out;
}

int32_t slot_of(const SnapshotState& live, const pb::DecideRequest& request,
                const std::string& id) {
  for (int32_t slot = 0; slot < live.state().head->high_water; ++slot) {
    const int32_t entry = live.request_index(slot);
    if (entry != kNone && request.jobs(entry).id() == id) return slot;
  }
  return kNone;
}

using Changes = std::multiset<std::string>;

class Memories : public ::testing::Test {
 protected:
  Memories() {
    request = cluster_of(2);
    add_running(request, "r", 8, "n0");
    add_waiting(request, "w", 4);
  }

  // Gives the next snapshot to the memory and returns the changes.
  Changes see() {
    snapshot.emplace(request);
    live.emplace(memory.next_state(*snapshot));
    memory.keep_or_clear_memory(live->state(), 8, 8);
    slots.clear();
    for (const pb::Job& job : request.jobs()) {
      slots[job.id()] = slot_of(*live, request, job.id());
    }
    return changes(*live, request);
  }

  // A policy decides so on the last snapshot.
  void plan(Verb verb, const std::string& id) {
    Draft draft(live->fixed(), live->state());
    const Piece there{1, 4};
    ASSERT_TRUE(verb == Verb::kStart ? draft.start(slots.at(id), &there, 1)
                                     : draft.preempt(slots.at(id)));
    memory.remember_plan(*live, draft.plan());
  }

  void run_on(double seconds) {
    request.set_time_s(request.time_s() + seconds);
    for (pb::Job& job : *request.mutable_jobs()) {
      if (job.state() == pb::RUNNING) job.set_attained_s(job.attained_s() + seconds);
    }
  }

  pb::DecideRequest request;
  ClusterMemory memory{{.slots = 16, .users = 16, .names = 16}};
  std::optional<Snapshot> snapshot;
  std::optional<SnapshotState> live;
  std::map<std::string, int32_t> slots;
};

TEST_F(Memories, TellsWhatChanged) {
  EXPECT_EQ(see(), (Changes{"r runs", "w waits"}));
  run_on(10);
  EXPECT_EQ(see(), Changes{});
  add_waiting(request, "x", 1);
  EXPECT_EQ(see(), Changes{"x waits"});
}

// As in a simulation, a policy is not told of its own plan, but of what comes of it.
TEST_F(Memories, ExpectsThePlanToBeCarriedOut) {
  see();
  plan(Verb::kStart, "w");
  run_on(1);
  pb::Job& w = *request.mutable_jobs(1);  // has nothing to restore: it is to run at once
  w.set_state(pb::STARTING);
  w.set_starts(1);
  w.add_placement()->set_node("n1");
  w.mutable_placement(0)->set_gpus(4);
  EXPECT_EQ(see(), Changes{"w starts"});
  w.set_state(pb::RUNNING);
  EXPECT_EQ(see(), Changes{"w runs"});
  EXPECT_EQ(see(), Changes{});
  plan(Verb::kPreempt, "w");
  w.set_state(pb::STOPPING);
  w.set_preemptions(1);
  EXPECT_EQ(see(), Changes{});
  w.set_state(pb::WAITING);
  w.clear_placement();
  EXPECT_EQ(see(), Changes{"w waits"});
}

TEST_F(Memories, TellsOfAPlanThatWasNotCarriedOut) {
  see();
  plan(Verb::kStart, "w");
  run_on(1);
  EXPECT_EQ(see(), Changes{"w waits"});
  EXPECT_EQ(see(), Changes{});
}

TEST_F(Memories, KeepsSlotsAndReusesThem) {
  see();
  const std::map<std::string, int32_t> before = slots;
  request.mutable_jobs()->SwapElements(0, 1);
  see();
  EXPECT_EQ(slots, before);
  request.mutable_jobs()->DeleteSubrange(1, 1);  // r
  run_on(5);
  EXPECT_EQ(see(), Changes{"done"});
  add_waiting(request, "x", 1);
  see();
  EXPECT_EQ(slots.at("x"), before.at("r"));
  EXPECT_EQ(slots.at("w"), before.at("w"));
}

TEST_F(Memories, CountsAFinishedJobOnce) {
  pb::FinishedJob& earlier = *request.add_finished();
  earlier.set_gpus(1);
  earlier.set_run_s(100);
  earlier.set_end_s(9'000);
  EXPECT_EQ(see(), (Changes{"done", "r runs", "w waits"}));
  run_on(5);
  EXPECT_EQ(see(), Changes{});
  pb::FinishedJob& r = *request.add_finished();
  r.set_id("r");
  r.set_gpus(8);
  r.set_submit_s(request.jobs(0).submit_s());
  r.set_run_s(3'604);
  r.set_end_s(10'004);  // before the last snapshot, which did not know it yet
  request.mutable_jobs()->DeleteSubrange(0, 1);
  const Snapshot snapshot(request);
  SnapshotState live = memory.next_state(snapshot);
  memory.keep_or_clear_memory(live.state(), 8, 8);
  ASSERT_EQ(changes(live, request), Changes{"done"});
  EXPECT_EQ(live.state().attained_us[live.state().changed[0]], 3'604'000'000);
  EXPECT_EQ(see(), Changes{});
}

// Nothing can be learned from the run time of a job that was cancelled before it ran.
TEST_F(Memories, KnowsJobsThatNeverRan) {
  see();
  request.mutable_jobs()->DeleteSubrange(1, 1);  // w
  run_on(5);
  const Snapshot snapshot(request);
  SnapshotState live = memory.next_state(snapshot);
  const View view(live.fixed(), live.state(), InformationLevel::kBlind);
  ASSERT_EQ(view.num_changed(), 1);
  EXPECT_TRUE(view.finished(view.changed_slot(0)));
  EXPECT_FALSE(view.ended_after_running(view.changed_slot(0)));
}

TEST_F(Memories, AnotherJobMayTakeOverAnId) {
  see();
  request.mutable_jobs(1)->set_submit_s(9'999);
  EXPECT_EQ(see(), (Changes{"done", "w waits"}));
}

TEST_F(Memories, BeginAnewWithAnotherClusterOrAnEarlierTime) {
  see();
  EXPECT_EQ(see(), Changes{});
  request.set_time_s(request.time_s() - 1);
  for (pb::Job& job : *request.mutable_jobs()) {
    job.set_attained_s(job.attained_s() > 0 ? job.attained_s() - 1 : 0);
  }
  EXPECT_EQ(see(), (Changes{"r runs", "w waits"}));
  request.mutable_nodes(0)->set_name("m0");
  request.mutable_nodes(1)->set_name("m1");
  request.mutable_jobs(0)->mutable_placement(0)->set_node("m0");
  EXPECT_EQ(see(), (Changes{"r runs", "w waits"}));
}

TEST_F(Memories, PolicySaysThatItsMemoryWasRebuilt) {
  const auto policy = make_policy("survival");
  const auto ask = [&](ClusterMemory* known) {
    return run_policy(*policy, Snapshot(request), request, Tracing::kNone, known);
  };
  ClusterMemory small;
  EXPECT_TRUE(ask(&small).rebuilt);
  run_on(1);
  EXPECT_FALSE(ask(&small).rebuilt);
  for (int j = 0; j < 40; ++j) add_waiting(request, "more" + std::to_string(j), 1);
  EXPECT_TRUE(ask(&small).rebuilt);  // it had no room for so many
  EXPECT_FALSE(ask(&small).rebuilt);
  EXPECT_TRUE(ask(nullptr).rebuilt);
  EXPECT_FALSE(run_policy(*make_policy("greedy"), Snapshot(request), request).rebuilt);
}

}  // namespace
}  // namespace yard::testing
