// A listing becomes a request in which what the agent does not understand holds its GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env/base/files/file.h"
#include "serving/slurm/gate.h"
#include "serving/slurm/read_cluster.h"
#include "serving/slurm/run_times.h"
#include "serving/slurm/snapshot_of.h"
#include "serving/snapshot/snapshot.h"

namespace yard::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr double kNow = 1795826780;

class SlurmSnapshot : public ::testing::Test {
 protected:
  void SetUp() override {
    read_jobs(read_file("tests/data/slurm/squeue-22.05.json"), listing_);
    ASSERT_TRUE(read_nodes(read_file("tests/data/slurm/sinfo-22.05.json"), listing_));
    config_.partitions = {"gpu"};
    site_.cluster = "yard";
    site_.memory_counts = false;
  }

  ClusterSnapshot make() const {
    return make_snapshot({listing_, config_, site_, "gpu", now_s_, needs_lease_, in_flight_,
                          run_times_.times_before_restart(), avoided_});
  }

  SlurmJob& job(const std::string& id) {
    for (SlurmJob& one : listing_.jobs) {
      if (one.id == id) return one;
    }
    throw std::runtime_error("no job " + id);
  }

  static const pb::Job* find(const ClusterSnapshot& snapshot, const std::string& id) {
    for (const pb::Job& entry : snapshot.request.jobs()) {
      if (entry.id() == id) return &entry;
    }
    return nullptr;
  }

  static std::vector<int> down(const ClusterSnapshot& snapshot, int node) {
    const auto& list = snapshot.request.nodes(node).down();
    return {list.begin(), list.end()};
  }

  Listing listing_;
  Config config_;
  SiteConfig site_;
  double now_s_ = kNow;
  bool needs_lease_ = true;
  InFlightJobs in_flight_;
  RunTimes run_times_;
  std::unordered_map<std::string, std::string> avoided_;
};

TEST_F(SlurmSnapshot, TakesLeasedJobsAndCountsTheOthers) {
  const ClusterSnapshot snapshot = make();
  EXPECT_EQ(snapshot.request.cluster(), "yard/gpu");
  std::vector<std::string> waiting;
  for (const SlurmJob* one : snapshot.waiting) waiting.push_back(one->id);
  EXPECT_THAT(waiting, UnorderedElementsAre("25", "27", "29_1", "29_2", "29_3", "29_4"));
  EXPECT_THAT(snapshot.left, UnorderedElementsAre(
                                 Pair("array_throttle", 4), Pair("completing", 1),
                                 Pair("dependency", 1), Pair("exclusive", 1),
                                 Pair("gpus_per_task", 1), Pair("no_gpu", 1), Pair("node_list", 1),
                                 Pair("small_share_of_several_nodes", 1), Pair("uneven", 1)));
  EXPECT_EQ(find(snapshot, "25")->gpus(), 4u);
  EXPECT_EQ(find(snapshot, "27")->gpus(), 16u);
  EXPECT_EQ(find(snapshot, "27")->groups(0).count(), 2u);
  EXPECT_EQ(find(snapshot, "27")->groups(0).task().gpus(), 8u);
}

TEST_F(SlurmSnapshot, GpusOfOthersAreHeld) {
  const ClusterSnapshot snapshot = make();
  EXPECT_THAT(down(snapshot, 0), ElementsAre(0, 1, 2, 3, 4));           // other jobs
  EXPECT_THAT(down(snapshot, 1), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));  // draining
  EXPECT_THAT(down(snapshot, 2), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));  // --exclusive
  EXPECT_THAT(down(snapshot, 3), ElementsAre(0, 1, 2));                 // 3-5: job 26
  EXPECT_EQ(snapshot.free.at("n0"), 3);
  EXPECT_EQ(snapshot.free.at("n1"), 0);
  EXPECT_EQ(snapshot.free.at("n3"), 2);
  EXPECT_EQ(snapshot.held_gpus, 5 + 8 + 8 + 3);
}

TEST_F(SlurmSnapshot, RunningJobsKeepTheirGpusAndArePinned) {
  const ClusterSnapshot snapshot = make();
  const pb::Job* running = find(snapshot, "26");
  ASSERT_NE(running, nullptr);
  EXPECT_EQ(running->state(), pb::RUNNING);
  EXPECT_TRUE(running->pinned());
  EXPECT_EQ(running->placement(0).node(), "n3");
  EXPECT_THAT(running->placement(0).gpu_ids(), ElementsAre(3, 4, 5));
  EXPECT_EQ(running->attained_s(), kNow - 1795826774);
}

TEST_F(SlurmSnapshot, TheServerUnderstandsEveryRecord) {
  const ClusterSnapshot snapshot = make();
  const Snapshot read(snapshot.request);
  EXPECT_EQ(read.quarantine().count(), 0);
}

// An --exclusive job may hold one GPU; no other job may use the other seven.
TEST_F(SlurmSnapshot, ExclusiveJobsHoldTheirWholeNodes) {
  for (SlurmNode& node : listing_.nodes) {
    if (node.name == "n2") node.used = {0};
  }
  EXPECT_EQ(down(make(), 2).size(), 8u);
}

TEST_F(SlurmSnapshot, JobsWithGpusNotUnderstoodHoldTheirWholeNodes) {
  job("33").held.reset();
  EXPECT_EQ(down(make(), 0).size(), 8u);
  job("33").node_list = "n[";
  const ClusterSnapshot snapshot = make();
  for (int node = 0; node < 4; ++node) EXPECT_EQ(snapshot.free.at("n" + std::to_string(node)), 0);
}

TEST_F(SlurmSnapshot, TwoJobsWithTheSameGpuDoNotSpoilTheRequest) {
  SlurmJob copy = job("26");
  copy.id = "99";
  listing_.jobs.push_back(copy);
  const ClusterSnapshot snapshot = make();
  EXPECT_EQ(find(snapshot, "99"), nullptr);
  EXPECT_EQ(snapshot.left.at("uneven"), 2);
  EXPECT_NO_THROW(Snapshot(snapshot.request));
}

TEST_F(SlurmSnapshot, OnlyWhatTheConfigurationNames) {
  config_.accounts = {"physics"};
  EXPECT_EQ(make().request.jobs_size(), 0);
  job("25").account = "physics";
  EXPECT_EQ(make().request.jobs_size(), 1);
  config_.nodes = "n[2-3]";
  EXPECT_EQ(make().request.nodes_size(), 2);
  config_.accounts.clear();
  config_.nodes = "n[0-2]";
  EXPECT_EQ(make().left.at("other_nodes"), 1) << "job 26 runs on n3";
}

TEST_F(SlurmSnapshot, JobsWithoutALeaseAreSlurms) {
  job("25").admin_comment = "for the auditors";
  EXPECT_EQ(find(make(), "25"), nullptr);
  EXPECT_EQ(make().left.at("no_lease"), 1);
  needs_lease_ = false;  // a dry run
  now_s_ = job("25").eligible_s + 1;
  EXPECT_NE(find(make(), "25"), nullptr);
}

TEST_F(SlurmSnapshot, UsersOwnNodesHoldsAndLongWaitsAreLeft) {
  job("25").required_nodes = "n0";
  EXPECT_EQ(make().left.at("node_list"), 2);
  job("25").required_nodes.clear();
  job("25").reason = "JobHeldAdmin";
  EXPECT_EQ(make().left.at("held"), 1);
  job("25").reason = "BeginTime";
  now_s_ = job("25").submit_s + config_.release_after_s + 1;
  EXPECT_GE(make().left.at("waited_too_long"), 1);
}

TEST_F(SlurmSnapshot, StartsInFlightHoldTheirNodes) {
  in_flight_["25"] = {pb::START, 0, {"n0"}, 3, BootClock::now(), "d"};
  job("25").admin_comment = std::string(kPinComment) + " d";
  job("25").required_nodes = "n0";
  job("25").per_node->gpus = 3;
  const ClusterSnapshot snapshot = make();
  EXPECT_EQ(find(snapshot, "25")->state(), pb::STARTING);
  EXPECT_EQ(snapshot.free.at("n0"), 0);
  EXPECT_NO_THROW(Snapshot(snapshot.request));
}

// Slurm may start another job there, as its lease ended, or the node is drained meanwhile. A
// request with the start would contradict itself, and no job would be decided on.
TEST_F(SlurmSnapshot, StartsInFlightWithoutRoomAreLeftOut) {
  in_flight_["25"] = {pb::START, 0, {"n0"}, 3, BootClock::now(), "d"};
  job("25").admin_comment = std::string(kPinComment) + " d";
  job("25").required_nodes = "n0";
  job("25").per_node->gpus = 3;
  for (SlurmNode& node : listing_.nodes) {
    if (node.name == "n0") node.used = {0, 1, 2, 3, 4, 5, 6, 7};
  }
  EXPECT_EQ(find(make(), "25"), nullptr);
  EXPECT_EQ(make().left.at("pinned"), 1);
  EXPECT_NO_THROW(Snapshot(make().request));
  for (SlurmNode& node : listing_.nodes) {
    if (node.name == "n0") node.used.clear(), node.usable = false;
  }
  EXPECT_EQ(find(make(), "25"), nullptr);
  EXPECT_NO_THROW(Snapshot(make().request));
}

// Partitions may share nodes: what the agent has just started for another one is taken.
TEST_F(SlurmSnapshot, StartsForAnotherPartitionHoldTheirGpus) {
  in_flight_["77"] = {pb::START, 0, {"n0", "n3"}, 2, BootClock::now(), "d"};
  const ClusterSnapshot snapshot = make();
  EXPECT_EQ(snapshot.free.at("n0"), 1);
  EXPECT_EQ(snapshot.free.at("n3"), 0);
}

TEST_F(SlurmSnapshot, ShapesThatSlurmCanPlaceInOneWayOnly) {
  const auto shape = [&](std::optional<GpuRequest> per_node, std::optional<GpuRequest> per_job,
                         int nodes) {
    SlurmJob one;
    one.per_node = std::move(per_node);
    one.per_job = std::move(per_job);
    one.nodes = nodes;
    std::string reason;
    const JobShape shape = shape_of(one, 8, reason);
    return reason.empty() ? std::to_string(shape.count) + "x" + std::to_string(shape.gpus) : reason;
  };
  const std::optional<GpuRequest> none;
  EXPECT_EQ(shape({{3, ""}}, none, 1), "1x3");
  EXPECT_EQ(shape({{5, ""}}, none, 2), "2x5");
  EXPECT_EQ(shape({{4, ""}}, none, 2), "small_share_of_several_nodes");
  EXPECT_EQ(shape(none, {{8, ""}}, 1), "1x8");
  EXPECT_EQ(shape(none, {{8, ""}}, 2), "uneven");
  EXPECT_EQ(shape(none, {{16, ""}}, 1), "2x8");
  EXPECT_EQ(shape(none, {{16, ""}}, 2), "2x8") << "as Slurm 22.05 lists --gpus=16";
  EXPECT_EQ(shape(none, {{16, ""}}, 3), "uneven");
  EXPECT_EQ(shape(none, {{12, ""}}, 2), "uneven");
  EXPECT_EQ(shape({{1, ""}}, {{1, ""}}, 1), "gres");
  EXPECT_EQ(shape(none, none, 1), "no_gpu");
}

// Least attained service would otherwise let two jobs preempt each other for ever.
TEST_F(SlurmSnapshot, AttainedServiceOutlivesARequeue) {
  run_times_.update(listing_, kNow);
  job("26").restarts = 1;
  job("26").state = "PENDING";
  job("26").required_nodes.clear();
  job("26").admin_comment = kLeaseComment;
  job("26").submit_s = kNow - 1000;
  now_s_ = kNow + 50;
  run_times_.update(listing_, now_s_);
  EXPECT_EQ(find(make(), "26")->state(), pb::WAITING);
  EXPECT_EQ(find(make(), "26")->since_s(), now_s_);
  EXPECT_EQ(find(make(), "26")->attained_s(), kNow - 1795826774);
  job("26").state = "RUNNING";
  job("26").start_s = now_s_ - 20;
  run_times_.update(listing_, now_s_);
  EXPECT_EQ(find(make(), "26")->attained_s(), kNow - 1795826774 + 20);
}

TEST_F(SlurmSnapshot, RunTimesOfEarlierRunsAreKnownIfAllWereSeen) {
  SlurmJob seen = job("26"), unseen = job("26");
  unseen.id = "77";
  unseen.restarts = 2;
  listing_.jobs.push_back(unseen);
  run_times_.update(listing_, kNow);
  EXPECT_EQ(run_times_.earlier_runs_s(seen), 0);
  EXPECT_EQ(run_times_.earlier_runs_s(unseen), std::nullopt) << "two runs were before the agent";
  seen.restarts = 1;
  EXPECT_EQ(run_times_.earlier_runs_s(seen), kNow - 1795826774);
  job("26").restarts = 1;
  run_times_.update(listing_, kNow + 10);
  EXPECT_EQ(run_times_.earlier_runs_s(seen), kNow - 1795826774);
  seen.restarts = 3;
  EXPECT_EQ(run_times_.earlier_runs_s(seen), std::nullopt) << "a run was missed";
  SlurmJob late;
  late.id = "78";
  EXPECT_EQ(run_times_.earlier_runs_s(late), 0);
}

TEST_F(SlurmSnapshot, RegistersWhatTheConfigurationAllows) {
  pb::RegisterRequest registration = make_registration(config_, site_, "gpu", 3);
  EXPECT_EQ(registration.cluster(), make().request.cluster());
  EXPECT_EQ(registration.term(), 3u);
  EXPECT_THAT(registration.verbs(), ElementsAre(pb::START));
  config_.preempt = true;
  registration = make_registration(config_, site_, "gpu", 3);
  EXPECT_THAT(registration.verbs(), ElementsAre(pb::START, pb::PREEMPT));
}

TEST_F(SlurmSnapshot, OneIdTwiceIsOneRecord) {
  listing_.jobs.push_back(job("25"));
  EXPECT_NO_THROW(Snapshot(make().request));
}

TEST_F(SlurmSnapshot, PinsOfAnotherLeaderAreNotDecidedOn) {
  job("25").admin_comment = std::string(kPinComment) + " d";
  job("25").required_nodes = "n0";
  EXPECT_EQ(find(make(), "25"), nullptr);
  EXPECT_EQ(make().left.at("pinned"), 1);
}

TEST_F(SlurmSnapshot, FailedJobsAreSlurmsForAWhile) {
  avoided_["25"] = "refused";
  EXPECT_EQ(find(make(), "25"), nullptr);
  EXPECT_EQ(make().left.at("refused"), 1);
}

TEST_F(SlurmSnapshot, CoresAndMemoryOfOthersAreTaken) {
  site_.memory_counts = true;
  for (SlurmNode& node : listing_.nodes) {
    node.cpus = 64;
    node.used_cpus = node.name == "n0" ? 64 : 10;
    node.mem_mib = 1024 * 100;
    node.used_mem_mib = 1024 * 60;
  }
  job("26").mem_mib = 1024 * 8;
  const ClusterSnapshot snapshot = make();
  EXPECT_EQ(snapshot.free.at("n0"), 0) << "no core is left";
  EXPECT_EQ(snapshot.request.nodes(3).cpus(), 54 + 1) << "idle, and those of job 26";
  EXPECT_EQ(snapshot.request.nodes(3).mem_gib(), 40 + 8);
}

TEST_F(SlurmSnapshot, PreemptsOnlyWhatSlurmItselfMayRequeue) {
  EXPECT_THAT(make().request.allowed(), ElementsAre(pb::START));
  EXPECT_FALSE(make().request.has_costs());
  config_.preempt = true;
  config_.restore_s = 5;
  EXPECT_EQ(make().request.costs().save_s(), 10);
  EXPECT_EQ(make().request.costs().restore_s(), 5);
  EXPECT_THAT(make().request.allowed(), ElementsAre(pb::START, pb::PREEMPT));
  EXPECT_TRUE(find(make(), "26")->pinned());
  site_.requeues = {"gpu"};
  EXPECT_FALSE(find(make(), "26")->pinned());
  job("26").may_requeue = false;
  EXPECT_TRUE(find(make(), "26")->pinned());
  job("26").may_requeue = true;
  site_.requeues.clear();
  site_.qos_requeues = {"low"};
  EXPECT_TRUE(find(make(), "26")->pinned());
  job("26").qos = "low";
  EXPECT_FALSE(find(make(), "26")->pinned());
}

}  // namespace
}  // namespace yard::slurm
