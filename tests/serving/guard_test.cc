// Checks the guard alone: every kind of illegal decision, and some legal ones.
#include "serving/snapshot/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "serving/snapshot/cluster_memory.h"
#include "serving/snapshot/snapshot.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

// n0: "whole" on all 8 GPUs; n1: "half" on 4, "fixed" (pinned) on 2, GPU 7 down, so one GPU is
// free. "w1" and "w2" wait for 1 and 12 GPUs, "s" is stopping.
pb::DecideRequest busy() {
  pb::DecideRequest request = cluster_of(2);
  request.mutable_nodes(1)->add_down(7);
  add_running(request, "whole", 8, "n0");
  add_running(request, "half", 4, "n1");
  add_running(request, "fixed", 2, "n1").set_pinned(true);
  add_waiting(request, "w1", 1);
  add_waiting(request, "w2", 12);
  add_waiting(request, "s", 1).set_state(pb::STOPPING);
  return request;
}

void preempt(pb::DecideResponse& response, const std::string& job) {
  pb::Action& action = *response.add_actions();
  action.set_job(job);
  action.set_verb(pb::PREEMPT);
}

void start(pb::DecideResponse& response, const std::string& job,
           const std::vector<std::pair<std::string, uint32_t>>& pieces) {
  pb::Action& action = *response.add_actions();
  action.set_job(job);
  action.set_verb(pb::START);
  for (const auto& [node, gpus] : pieces) {
    pb::Piece& piece = *action.add_pieces();
    piece.set_node(node);
    piece.set_gpus(gpus);
  }
}

// What the snapshot set aside is the manager's, although the request names it.
TEST(Guard, RefusesActionsOnRecordsThatWereSetAside) {
  pb::DecideRequest request = busy();
  request.mutable_jobs(1)->set_attained_s(std::numeric_limits<double>::quiet_NaN());
  add_waiting(request, "odd", 1).set_limit_s(-1);
  const Snapshot snapshot(request);
  ASSERT_EQ(snapshot.quarantine().count(), 2);
  pb::DecideResponse stop, begin, other;
  preempt(stop, "half");
  start(begin, "odd", {{"n1", 1}});
  start(other, "w1", {{"n1", 1}});
  const auto flaw = [&](const pb::DecideResponse& response) {
    return flaw_of_decision(request, response, {}, snapshot.quarantine());
  };
  EXPECT_EQ(flaw(stop), "PREEMPT of job 'half': its record was set aside");
  EXPECT_EQ(flaw(begin), "START of job 'odd': its record was set aside");
  EXPECT_EQ(flaw(other), "");
}

// No policy may end a job of a live cluster.
TEST(Guard, RefusesToEndAJob) {
  const pb::DecideRequest request = busy();
  const Snapshot snapshot(request);
  ClusterMemory known;
  const SnapshotState live = known.next_state(snapshot);
  const View view(live.fixed(), live.state(), InformationLevel::kBlind);
  Plan plan;
  for (int32_t i = 0; i < view.num_holders(); ++i) {
    EXPECT_FALSE(view.may_end_early(view.holder_slot(i)));
    plan.edits = {{Verb::kEnd, view.ref(view.holder_slot(i))}};
    pb::DecideResponse response;
    snapshot.write(live, plan, response);
    ASSERT_EQ(response.actions_size(), 1);
    EXPECT_THAT(flaw_of_decision(request, response), ::testing::EndsWith(": no known verb"));
  }
}

TEST(Guard, AcceptsLegalActions) {
  pb::DecideResponse nothing;
  EXPECT_EQ(flaw_of_decision(busy(), nothing), "");
  pb::DecideResponse fits;
  start(fits, "w1", {{"n1", 1}});
  fits.set_wake_after_s(0);
  EXPECT_EQ(flaw_of_decision(busy(), fits), "");
  pb::DecideResponse stopping;
  start(stopping, "s", {{"n1", 1}});
  EXPECT_EQ(flaw_of_decision(busy(), stopping), "");
  // A preemption makes room for a start, even if the start is listed first.
  pb::DecideResponse swap;
  start(swap, "w2", {{"n0", 8}, {"n1", 4}});
  preempt(swap, "whole");
  preempt(swap, "half");
  EXPECT_EQ(flaw_of_decision(busy(), swap), "");
  pb::DecideResponse move;
  preempt(move, "half");
  preempt(move, "whole");
  start(move, "half", {{"n0", 4}});
  EXPECT_EQ(flaw_of_decision(busy(), move), "");
}

TEST(Guard, RejectsIllegalActions) {
  struct Case {
    const char* why;
    void (*make)(pb::DecideResponse&);
  };
  const Case cases[] = {
      {"no such job",
       [](auto& r) {
         start(r, "nobody", {{"n1", 1}});
       }},
      {"no such job", [](auto& r) { preempt(r, ""); }},
      {"no known verb", [](auto& r) { r.add_actions()->set_job("w1"); }},
      {"it already holds GPUs",
       [](auto& r) {
         start(r, "half", {{"n1", 4}});
       }},
      {"started twice",
       [](auto& r) {
         start(r, "w1", {{"n1", 1}});
         start(r, "w1", {{"n1", 1}});
       }},
      {"no node 'n2'",
       [](auto& r) {
         start(r, "w1", {{"n2", 1}});
       }},
      {"node 'n0' twice",
       [](auto& r) {
         start(r, "w2", {{"n0", 4}, {"n0", 8}});
       }},
      {"a piece without GPUs",
       [](auto& r) {
         start(r, "w1", {{"n1", 1}, {"n0", 0}});
       }},
      {"2 GPUs for a job of 1",
       [](auto& r) {
         start(r, "w1", {{"n1", 2}});
       }},
      {"0 GPUs for a job of 12", [](auto& r) { start(r, "w2", {}); }},
      {"node 'n0' would lack 1",
       [](auto& r) {
         start(r, "w1", {{"n0", 1}});
       }},
      {"node 'n1' would lack 1",
       [](auto& r) {
         start(r, "w1", {{"n1", 1}});
         start(r, "s", {{"n1", 1}});
       }},
      {"node 'n1' would lack 3",  // GPU 7 is down, "fixed" stays
       [](auto& r) {
         preempt(r, "half");
         preempt(r, "whole");
         start(r, "w2", {{"n0", 4}, {"n1", 8}});
       }},
      {"it holds no GPUs", [](auto& r) { preempt(r, "w1"); }},
      {"it holds no GPUs", [](auto& r) { preempt(r, "s"); }},
      {"it is pinned", [](auto& r) { preempt(r, "fixed"); }},
      {"preempted twice",
       [](auto& r) {
         preempt(r, "half");
         preempt(r, "half");
       }},
      {"must not name GPUs",
       [](auto& r) {
         preempt(r, "half");
         r.mutable_actions(0)->add_pieces()->set_node("n1");
       }},
      {"negative or not finite", [](auto& r) { r.set_wake_after_s(-1); }},
      {"negative or not finite",
       [](auto& r) { r.set_wake_after_s(std::numeric_limits<double>::quiet_NaN()); }},
      {"negative or not finite",
       [](auto& r) { r.set_wake_after_s(std::numeric_limits<double>::infinity()); }},
  };
  for (const Case& one : cases) {
    pb::DecideResponse response;
    one.make(response);
    const std::string why = flaw_of_decision(busy(), response);
    EXPECT_NE(why.find(one.why), std::string::npos) << "expected: " << one.why << ", got: " << why;
  }
}

TEST(Guard, EnforcesTheAllowedVerbs) {
  pb::DecideRequest request = busy();
  request.add_allowed(pb::START);
  pb::DecideResponse response;
  preempt(response, "half");
  EXPECT_NE(flaw_of_decision(request, response).find("not allowed"), std::string::npos);
  request.add_allowed(pb::PREEMPT);
  EXPECT_EQ(flaw_of_decision(request, response), "");
}

TEST(Guard, CountsGpusThatAreDownAndHeldOnce) {
  pb::DecideRequest request = cluster_of(1);
  request.mutable_nodes(0)->add_down(0);
  pb::Job& job = add_running(request, "a", 2, "n0");
  for (const uint32_t gpu : {0U, 1U}) job.mutable_placement(0)->add_gpu_ids(gpu);
  add_waiting(request, "six", 6);
  add_waiting(request, "seven", 7);
  pb::DecideResponse six, seven;
  start(six, "six", {{"n0", 6}});
  start(seven, "seven", {{"n0", 7}});
  EXPECT_EQ(flaw_of_decision(request, six), "");
  EXPECT_NE(flaw_of_decision(request, seven), "");
}

// n0 of type v100 with 8 cores, n1 of type k80, reserved for "lab". "ps" needs 2 workers of 1 GPU
// and a server of 6 cores.
pb::DecideRequest varied() {
  pb::DecideRequest request = cluster_of(2);
  request.mutable_nodes(0)->set_gpu_type("v100");
  request.mutable_nodes(0)->set_cpus(8);
  request.mutable_nodes(1)->set_gpu_type("k80");
  pb::Tenant& lab = *request.add_tenants();
  lab.set_name("lab");
  lab.set_limit_gpus(4);
  lab.set_may_lend(false);
  request.mutable_nodes(1)->set_tenant("lab");
  pb::Job& ps = add_waiting(request, "ps", 2);
  pb::TaskGroup& workers = *ps.add_groups();
  workers.set_role("worker");
  workers.set_count(2);
  workers.mutable_task()->set_gpus(1);
  workers.mutable_task()->set_cpu_milli(1000);
  pb::TaskGroup& server = *ps.add_groups();
  server.set_role("ps");
  server.set_count(1);
  server.mutable_task()->set_cpu_milli(6000);
  add_waiting(request, "typed", 1).add_gpu_types("k80");
  add_waiting(request, "lab1", 3).set_tenant("lab");
  add_waiting(request, "lab2", 3).set_tenant("lab");
  add_waiting(request, "later", 1).add_after("ps");
  return request;
}

void add_tasks(pb::DecideResponse& response, const std::string& node, uint32_t group,
               uint32_t tasks, uint32_t gpus) {
  pb::Piece& piece = *response.mutable_actions(response.actions_size() - 1)->add_pieces();
  piece.set_node(node);
  piece.set_group(group);
  piece.set_tasks(tasks);
  piece.set_gpus(gpus);
}

TEST(Guard, ChecksWhatJobsAskFor) {
  const pb::DecideRequest request = varied();
  const auto flaw = [&](const std::function<void(pb::DecideResponse&)>& decide) {
    pb::DecideResponse response;
    decide(response);
    return flaw_of_decision(request, response);
  };
  using ::testing::HasSubstr;
  EXPECT_EQ(flaw([](auto& r) {
              start(r, "ps", {});
              add_tasks(r, "n0", 0, 2, 2);
              add_tasks(r, "n0", 1, 1, 0);
              start(r, "lab1", {{"n1", 3}});
            }),
            "");
  EXPECT_THAT(flaw([](auto& r) {
                start(r, "ps", {});
                add_tasks(r, "n0", 0, 2, 2);
              }),
              HasSubstr("0 tasks of its group 1, which needs 1 to 1"));
  EXPECT_THAT(flaw([](auto& r) {
                start(r, "ps", {});
                add_tasks(r, "n0", 0, 2, 1);
                add_tasks(r, "n0", 1, 1, 0);
              }),
              HasSubstr("1 GPUs for 2 tasks of 1"));
  EXPECT_THAT(flaw([](auto& r) {
                start(r, "ps", {});
                add_tasks(r, "n0", 0, 1, 1);
                add_tasks(r, "n0", 2, 1, 0);
              }),
              HasSubstr("no group 2"));
  EXPECT_THAT(flaw([](auto& r) {
                start(r, "typed", {{"n0", 1}});
              }),
              HasSubstr("GPUs of type 'v100', on which it cannot run"));
  EXPECT_THAT(flaw([](auto& r) {
                start(r, "typed", {{"n1", 1}});
              }),
              HasSubstr("node 'n1' is reserved for 'lab'"));
  EXPECT_THAT(flaw([](auto& r) {
                start(r, "lab1", {{"n1", 3}});
                start(r, "lab2", {{"n1", 3}});
              }),
              HasSubstr("tenant 'lab' would exceed its limit"));
  EXPECT_THAT(flaw([](auto& r) {
                start(r, "later", {{"n0", 1}});
              }),
              HasSubstr("it waits for job 'ps'"));
  pb::DecideRequest small = request;
  small.mutable_nodes(0)->set_cpus(7);
  pb::DecideResponse response;
  start(response, "ps", {});
  add_tasks(response, "n0", 0, 2, 2);
  add_tasks(response, "n0", 1, 1, 0);
  EXPECT_THAT(flaw_of_decision(small, response), HasSubstr("node 'n0' would lack cores"));
}

}  // namespace
}  // namespace yard::testing
