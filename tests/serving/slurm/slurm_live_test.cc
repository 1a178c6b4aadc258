// The agent beside a real Slurm: it starts jobs where the policy says; whatever fails, Slurm starts
// them, once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "serving/log/log_reader.h"
#include "serving/slurm/act.h"
#include "serving/slurm/gate.h"
#include "serving/slurm/read_cluster.h"
#include "tests/serving/slurm/slurm_cluster.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr int kLeaseS = 8;

class SlurmLive : public ::testing::Test {
 protected:
  void SetUp() override {
    YARD_NEEDS(slurm, why_no_slurm().empty(), why_no_slurm());
    cluster_ = std::make_unique<SlurmCluster>(kLeaseS);
  }

  Child serve() const {
    return {cluster_->folder(),
            {"serve", "--policy", "greedy", "--listen", "127.0.0.1:0", "--json", "--grace", "0",
             "--budget-ms", "5000"}};
  }
  Child agent(const std::string& config, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"slurm", "--config", config, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return {cluster_->folder(), arguments};
  }
  // Waits until the agent leads.
  static bool leads(const Child& agent) {
    return eventually([&] { return !events_of(agent, "leads").empty(); });
  }

  static bool waits_with_lease(const std::string& id) {
    slurm::Listing listing;
    slurm::read_jobs(run_command({"squeue", "--json"}, 20s).out, listing);
    return std::ranges::any_of(listing.jobs, [&](const slurm::SlurmJob& job) {
      return job.id == id && job.waits() && slurm::has_lease(job) && job.eligible_s > unix_s();
    });
  }
  static double unix_s() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  std::unique_ptr<SlurmCluster> cluster_;
};

TEST_F(SlurmLive, JobsStartWhereThePolicySaysAndWithoutItByTheirLease) {
  Child server = serve();
  const std::string config = cluster_->agent_config(server.addresses().at("grpc"));
  Child first = agent(config);
  ASSERT_TRUE(leads(first));
  std::vector<std::string> jobs;
  for (const char* gpus : {"1", "4", "8", "3"}) {
    jobs.push_back(cluster_->submit({std::string("--gpus=") + gpus}));
  }
  jobs.push_back(cluster_->submit({"--nodes=2", "--gpus-per-node=5"}));
  for (const std::string& job : jobs) {
    EXPECT_TRUE(eventually([&] { return cluster_->is_running(job); })) << job;
  }
  EXPECT_TRUE(eventually([&] { return events_of(first, "started").size() == jobs.size(); }));
  for (const auto& start : events_of(first, "started")) EXPECT_EQ(start.at("by"), "agent") << start;
  for (const auto& action : events_of(first, "action")) {
    if (action.at("action") != "start") continue;
    EXPECT_EQ(action.at("outcome"), "done") << action;
    const std::string id = action.at("job");
    EXPECT_EQ(cluster_->show(id, "NodeList").find(','), std::string::npos);
    slurm::Listing listing;
    slurm::read_jobs(run_command({"squeue", "--json"}, 20s).out, listing);
    for (const slurm::SlurmJob& job : listing.jobs) {
      if (job.id != id) continue;
      std::vector<std::string> nodes;
      for (const slurm::HeldGpus& held : *job.held) nodes.push_back(held.node);
      std::string joined;
      for (const std::string& node : nodes) joined += (joined.empty() ? "" : ",") + node;
      EXPECT_EQ(action.at("nodes"), joined) << id;
    }
  }
  // Jobs wait for GPUs: their leases are renewed, and Slurm leaves them alone.
  const std::string waiting = cluster_->submit({"--gpus=8"});
  const std::string more = cluster_->submit({"--nodes=2", "--gpus-per-node=8"});
  std::this_thread::sleep_for(std::chrono::seconds(kLeaseS + 4));
  EXPECT_TRUE(waits_with_lease(more));
  // An agent lives: nothing is released.
  Child not_needed(cluster_->folder(),
                   {"slurm", "release-all", "--if-no-leader", "--config", config, "--json"});
  EXPECT_EQ(not_needed.wait(), 0) << not_needed.err();
  EXPECT_THAT(events_of(not_needed, "led"), SizeIs(1));
  EXPECT_TRUE(waits_with_lease(more));
  // The agent dies, and leases end.
  first.signal(SIGKILL);
  const std::string late = cluster_->submit({"--gpus=1"});
  EXPECT_TRUE(eventually([&] { return cluster_->is_running(late); }));
  EXPECT_TRUE(cluster_->run({"scancel", jobs[0], jobs[1], jobs[2], jobs[3], jobs[4], waiting}));
  EXPECT_TRUE(eventually([&] { return cluster_->is_running(more); }));
  for (const std::string& job : jobs) EXPECT_THAT(cluster_->runs_of(job), SizeIs(1));
}

TEST_F(SlurmLive, OnlyJobsThatThePolicyCouldDecideOnGetALease) {
  const std::vector<std::pair<bool, std::vector<std::string>>> cases = {
      {true, {"--gpus=1"}},
      {true, {"--gres=gpu:a100:2", "--cpus-per-task=4", "--time=5"}},
      {true, {"--nodes=2", "--gpus-per-node=8"}},
      {true, {"--gpus=1", "--array=1-3"}},
      {true, {"--gpus=1", "--oversubscribe"}},
      {false, {"--ntasks=4"}},
      {false, {"--gpus=1", "--partition=other"}},
      {false, {"--gpus=1", "--partition=gpu,other"}},
      {false, {"--gpus=1", "--array=1-3%1"}},
      {false, {"--gpus=1", "--begin=now+100"}},
      {false, {"--gpus=1", "--hold"}},
      {false, {"--gpus=1", "--dependency=singleton"}},
      {false, {"--gpus=1", "--nodelist=n1"}},
      {false, {"--gpus=1", "--exclude=n1"}},
      {false, {"--gpus=1", "--exclusive"}},
      {false, {"--ntasks=2", "--gpus-per-task=1"}},
      {false, {"--gpus=1", ":", "--gpus=1"}},
  };
  std::map<std::string, bool> expected;
  for (const auto& [lease, options] : cases) expected[cluster_->submit(options)] = lease;
  slurm::Listing listing;
  slurm::read_jobs(run_command({"squeue", "--json"}, 20s).out, listing);
  size_t seen = 0;
  for (const slurm::SlurmJob& job : listing.jobs) {
    const auto found = expected.find(job.array.empty() ? job.id : job.array);
    if (found == expected.end()) continue;
    ++seen;
    EXPECT_EQ(job.admin_comment, found->second ? "yardmaster lease" : "") << job.id;
    if (found->second) {
      EXPECT_EQ(job.eligible_s - job.submit_s, kLeaseS) << job.id;
    }
  }
  EXPECT_GE(seen, cases.size());
}

TEST_F(SlurmLive, StoppedLeaderSendsNoCommandWhenItContinues) {
  Child server = serve();
  const std::string config =
      cluster_->agent_config(server.addresses().at("grpc"), "lock_s: 3\ncommand_timeout_s: 1\n");
  Child first = agent(config);
  ASSERT_TRUE(leads(first));
  Child second = agent(config);
  // Work for the leader at every moment.
  for (int i = 0; i < 6; ++i) cluster_->submit({"--gpus=1"});
  ASSERT_TRUE(eventually([&] { return events_of(first, "action").size() >= 2; }));
  first.signal(SIGSTOP);
  ASSERT_TRUE(leads(second));
  for (int i = 0; i < 6; ++i) cluster_->submit({"--gpus=1"});
  std::this_thread::sleep_for(3s);
  const std::string parent = std::to_string(first.pid()) + " ";
  const auto by_first = [&] {
    const auto all = cluster_->commands();
    return std::count_if(all.begin(), all.end(),
                         [&](const std::string& line) { return line.starts_with(parent); });
  };
  const auto before = by_first();
  EXPECT_GT(before, 0);
  first.signal(SIGCONT);
  for (int i = 0; i < 6; ++i) cluster_->submit({"--gpus=1"});
  ASSERT_TRUE(eventually([&] { return !events_of(first, "gap").empty(); }));
  ASSERT_TRUE(eventually([&] { return cluster_->runs().size() == 18; }));
  EXPECT_EQ(by_first(), before);
  for (const auto& start : events_of(second, "started")) EXPECT_EQ(start.at("by"), "agent");
  second.signal(SIGTERM);
  EXPECT_EQ(second.wait(), 0) << second.err();
  // The lock is free again: the first leads at once.
  EXPECT_TRUE(eventually([&] { return events_of(first, "leads").size() == 2; }));
}

// Pins sent around the moment at which the lease ends: either starts the job, none twice.
// YARD_RACES sets the number of jobs; `make check-live ONLY=races` takes 200.
TEST_F(SlurmLive, RacesOfLeaseAndPinStartEachJobOnce) {
  constexpr int kAtATime = 24;
  const char* given = std::getenv("YARD_RACES");
  const int races = given == nullptr ? kAtATime : std::max(kAtATime, std::atoi(given));
  slurm::Config config;
  config.lease_s = kLeaseS;
  const slurm::SlurmCommander actor(
      config, {[] { return std::string(); }, [](const auto&, const auto&) {}});
  const auto until = [] { return slurm::BootClock::now() + 60s; };
  int sent = 0, refused = 0, by_lease = 0;
  size_t begun = 0;
  for (int left = races; left > 0; left -= kAtATime) {
    const size_t jobs = static_cast<size_t>(std::min(left, kAtATime));
    for (size_t i = 0; i < jobs; ++i) cluster_->submit({"--gpus=1"});
    slurm::Listing listing;
    slurm::read_jobs(run_command({"squeue", "--json"}, 20s).out, listing);
    ASSERT_THAT(listing.jobs, SizeIs(jobs));
    const double last_s = listing.jobs.back().eligible_s;
    while (unix_s() < last_s - 1) std::this_thread::sleep_for(10ms);
    for (size_t i = 0; i < jobs; ++i) {
      // Each second pin is sent without the second reading, as if the job started just after it.
      const slurm::SlurmJob& job = listing.jobs[i];
      const bool done =
          i % 2 == 0 ? actor.start(job, {"n3"}, "d", until()).outcome == slurm::Outcome::kDone
                     : run_command({"scontrol", "update", "JobId=" + job.id, "ReqNodeList=n3",
                                    "StartTime=now"},
                                   20s)
                           .ok();
      ++(done ? sent : refused);
      std::this_thread::sleep_for(60ms);
    }
    // The agent reads again first, and sends nothing for what has started.
    for (const slurm::SlurmJob& job : listing.jobs) {
      if (cluster_->runs_of(job.id).empty()) continue;
      EXPECT_EQ(actor.start(job, {"n1"}, "d", until()).outcome, slurm::Outcome::kChanged);
    }
    // n3 is full: what is pinned beyond would wait for it. release-all lets Slurm start it
    // elsewhere.
    Child release(cluster_->folder(), {"slurm", "release-all", "--if-no-leader", "--config",
                                       cluster_->agent_config("127.0.0.1:1"), "--json"});
    EXPECT_EQ(release.wait(), 0) << release.err();
    begun += jobs;
    EXPECT_TRUE(eventually([&] { return cluster_->runs().size() == begun; }))
        << cluster_->runs().size() << " of " << begun << " run";
    std::vector<std::string> cancel = {"scancel"};
    for (const slurm::SlurmJob& job : listing.jobs) {
      EXPECT_THAT(cluster_->runs_of(job.id), SizeIs(1));
      by_lease += cluster_->show(job.id, "NodeList") != "n3";
      cancel.push_back(job.id);
    }
    EXPECT_TRUE(cluster_->run(cancel));
    EXPECT_TRUE(eventually([] { return run_command({"squeue", "-h"}, 20s).out.empty(); }));
  }
  EXPECT_GT(sent, 0);
  std::printf(
      "%d races: %d pins accepted, %d too late, %d jobs not on the node of the pin; %zu starts\n",
      races, sent, refused, by_lease, cluster_->runs().size());
}

TEST_F(SlurmLive, JobsRequeuedOrPinnedToALostNodeRunAgainElsewhere) {
  Child server = serve();
  const std::string config = cluster_->agent_config(server.addresses().at("grpc"), "pin_s: 2\n");
  Child first = agent(config);
  ASSERT_TRUE(leads(first));
  const std::string job = cluster_->submit({"--gpus=8"});
  ASSERT_TRUE(eventually([&] { return cluster_->is_running(job); }));
  const std::string node = cluster_->show(job, "NodeList");
  // Slurm requeues it, and the pin would keep it waiting for the node. The node stays away: only
  // DOWN would end when its slurmd reports.
  for (const char* state : {"State=DRAIN", "State=DOWN"}) {
    ASSERT_TRUE(cluster_->run({"scontrol", "update", "NodeName=" + node, state, "Reason=test"}));
  }
  EXPECT_TRUE(eventually([&] { return cluster_->runs_of(job).size() == 2; }));
  EXPECT_NE(cluster_->show(job, "NodeList"), node);
  bool freed = false;
  for (const auto& action : events_of(first, "action")) freed |= action.at("action") == "unpin";
  EXPECT_TRUE(freed);
}

// A command to start a job is lost while its last run is completing.
TEST_F(SlurmLive, RequeuedJobStartsAgainOnceItsLastRunHasEnded) {
  Child server = serve();
  Child first = agent(cluster_->agent_config(server.addresses().at("grpc")));
  ASSERT_TRUE(leads(first));
  const std::string job = cluster_->submit({"--gpus=2"}, /*stubborn=*/true);
  ASSERT_TRUE(eventually([&] { return !events_of(first, "started").empty(); }));
  ASSERT_TRUE(eventually([&] { return cluster_->runs_of(job).size() == 1; }));
  slurm::Config config;
  const slurm::SlurmCommander actor(
      config, {[] { return std::string(); }, [](const auto&, const auto&) {}});
  slurm::Listing listing;
  slurm::read_jobs(run_command({"squeue", "--json"}, 20s).out, listing);
  ASSERT_THAT(listing.jobs, SizeIs(1));
  const auto until = slurm::BootClock::now() + 60s;
  EXPECT_EQ(actor.requeue(listing.jobs[0], until).outcome, slurm::Outcome::kDone);
  EXPECT_EQ(actor.requeue(listing.jobs[0], until).outcome, slurm::Outcome::kChanged);
  EXPECT_TRUE(eventually([&] { return cluster_->runs_of(job).size() == 2; }));
  EXPECT_TRUE(eventually([&] {
    const auto starts = events_of(first, "started");
    return starts.size() == 2 && starts[1].at("by") == "agent" && starts[1].at("restarts") == 1;
  }));
}

// Four jobs fill the cluster. After ten GPU seconds las puts a new job in front of them.
TEST_F(SlurmLive, PreemptsByRequeueOnlyIfConfigured) {
  const auto policy = cluster_->folder() / "las.yaml";
  std::ofstream(policy) << "policy: las\nsettings: {limit_1_gpu_s: 10}\n";
  Child server(cluster_->folder(),
               {"serve", "--policy", policy.string(), "--listen", "127.0.0.1:0", "--json",
                "--grace", "0", "--budget-ms", "5000", "--min-run", "0", "--preempted-share", "1"});
  const std::string address = server.addresses().at("grpc");
  std::vector<std::string> jobs;
  std::string fresh;
  {
    Child first = agent(cluster_->agent_config(address));
    ASSERT_TRUE(leads(first));
    for (int i = 0; i < 4; ++i) jobs.push_back(cluster_->submit({"--gpus=8"}));
    ASSERT_TRUE(eventually([&] { return cluster_->runs().size() == 4; }));
    std::this_thread::sleep_for(3s);
    fresh = cluster_->submit({"--gpus=8"});
    ASSERT_TRUE(eventually([&] { return events_of(first, "decision").back().at("waiting") == 1; }));
    std::this_thread::sleep_for(3s);
    EXPECT_EQ(cluster_->show(fresh, "State"), "PENDING");
    first.signal(SIGTERM);
    EXPECT_EQ(first.wait(), 0);
  }
  Child second = agent(cluster_->agent_config(address, "preempt: true\n"));
  EXPECT_TRUE(eventually([&] { return cluster_->is_running(fresh); }));
  int preempted = 0, restarted = 0;
  for (const auto& action : events_of(second, "action")) {
    preempted += action.at("action") == "preempt" && action.at("outcome") == "done";
  }
  for (const std::string& job : jobs) restarted += cluster_->show(job, "RestartCnt") == "1";
  EXPECT_GE(preempted, 1);
  EXPECT_GE(restarted, 1);
  EXPECT_THAT(cluster_->runs_of(fresh), SizeIs(1));
}

TEST_F(SlurmLive, FrozenControllerAndDeadServerDoNotStopTheAgent) {
  Child server = serve();
  const std::string config = cluster_->agent_config(
      server.addresses().at("grpc"), "command_timeout_s: 1\nlock_s: 10\nact_on: [POLICY]\n");
  Child first = agent(config);
  ASSERT_TRUE(leads(first));
  const std::string before = cluster_->submit({"--gpus=1"});
  ASSERT_TRUE(eventually([&] { return cluster_->is_running(before); }));
  cluster_->signal_controller(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return !events_of(first, "failure").empty(); }));
  cluster_->signal_controller(SIGCONT);
  cluster_->break_squeue(true);
  EXPECT_TRUE(eventually([&] {
    const auto failures = events_of(first, "failure");
    return failures.back().at("what") == "listing";
  }));
  cluster_->break_squeue(false);
  const std::string after = cluster_->submit({"--gpus=1"});
  ASSERT_TRUE(eventually([&] { return cluster_->is_running(after); }));
  // Without its server the agent leaves jobs to Slurm, which starts them at the end of their
  // leases.
  server.signal(SIGKILL);
  server.wait();
  const std::string last = cluster_->submit({"--gpus=1"});
  EXPECT_TRUE(eventually([&] { return cluster_->is_running(last); }));
  EXPECT_TRUE(eventually([&] {
    const auto starts = events_of(first, "started");
    return !starts.empty() && starts.back().at("job") == last && starts.back().at("by") == "slurm";
  }));
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(), 0) << first.err();
}

// The server's log has the exact run times of jobs, also of those that ended while it was down. The
// server gets the snapshots as deltas.
TEST_F(SlurmLive, EndedJobsAreReportedToTheDecisionLog) {
  const std::string log = (cluster_->folder() / "log").string();
  const std::string address = "unix:" + (cluster_->folder() / "server").string();
  const auto serve_again = [&] {
    return Child(cluster_->folder(),
                 {"serve", "--policy", "greedy", "--listen", address, "--json", "--grace", "0",
                  "--budget-ms", "5000", "--decision-log", log});
  };
  std::vector<std::string> jobs;
  {
    Child server = serve_again();
    server.addresses();
    Child first = agent(cluster_->agent_config(address));
    ASSERT_TRUE(leads(first));
    for (int i = 0; i < 3; ++i) jobs.push_back(cluster_->submit({"--gpus=1"}));
    // It keeps the agent asking.
    jobs.push_back(cluster_->submit({"--nodes=4", "--gpus-per-node=8"}));
    ASSERT_TRUE(eventually([&] { return cluster_->runs().size() == 3; }));
    std::this_thread::sleep_for(3s);
    ASSERT_TRUE(cluster_->run({"scancel", jobs[0]}));
    EXPECT_TRUE(eventually([&] { return events_of(first, "ended").size() == 1; }));
    server.signal(SIGKILL);
    server.wait();
    ASSERT_TRUE(cluster_->run({"scancel", jobs[1], jobs[3]}));
    EXPECT_TRUE(eventually([&] { return events_of(first, "ended").size() == 3; }));
    Child again = serve_again();
    again.addresses();
    const auto reported = [&] {
      int count = 0;
      for (const pb::LogRecord& record : LogReader(log)) count += record.has_reported();
      return count;
    };
    EXPECT_TRUE(eventually([&] { return reported() == 3; }));
    EXPECT_FALSE(events_of(first, "registered").empty());
    first.signal(SIGTERM);
    EXPECT_EQ(first.wait(), 0) << first.err();
    const auto sent = events_of(first, "sent");
    ASSERT_THAT(sent, SizeIs(1));
    EXPECT_EQ(sent[0].at("outcomes"), 3);
    EXPECT_GT(sent[0].at("deltas"), sent[0].at("snapshots")) << sent[0];
    again.signal(SIGTERM);
    again.wait();
  }
  LogReader reader(log);
  std::map<std::string, pb::Outcome> outcomes;
  int deltas = 0;
  for (const pb::LogRecord& record : reader) {
    if (record.has_reported()) {
      EXPECT_EQ(record.reported().cluster(), "yardtest/gpu");
      outcomes[record.reported().outcome().job()] = record.reported().outcome();
    }
    if (record.has_decision()) deltas += record.decision().request().has_state_version();
  }
  ASSERT_THAT(outcomes, SizeIs(3));
  for (const std::string& job : {jobs[0], jobs[1], jobs[3]}) {
    const pb::Outcome& outcome = outcomes.at(job);
    EXPECT_EQ(outcome.end(), pb::Outcome::CANCELLED);
    EXPECT_EQ(outcome.run_s(), job == jobs[3] ? 0 : outcome.end_s() - outcome.start_s());
    EXPECT_EQ(outcome.decision_id().empty(), job == jobs[3]);
  }
  EXPECT_GE(outcomes.at(jobs[0]).run_s(), 3);
  EXPECT_GT(deltas, 1);
  Child fit(cluster_->folder(),
            {"log", "fit", log, "--out", (cluster_->folder() / "site").string(), "--json"});
  EXPECT_EQ(fit.wait(), 0) << fit.err();
  const auto fitted = nlohmann::json::parse(fit.out());
  EXPECT_EQ(fitted.at("finished"), 2) << fitted;
  EXPECT_EQ(fitted.at("never_ran"), 1) << fitted;
}

TEST_F(SlurmLive, DryRunSendsNothingAndSaysWhatItWouldGain) {
  Child server = serve();
  const std::string config = cluster_->agent_config(server.addresses().at("grpc"));
  const std::string job = cluster_->submit({"--gpus=2"});
  Child dry = agent(config, {"--dry-run", "--for", "1"});
  EXPECT_EQ(dry.wait(), 0) << dry.err();
  EXPECT_THAT(cluster_->commands(), ::testing::Each(::testing::HasSubstr(" show ")));
  const auto would = events_of(dry, "would");
  ASSERT_THAT(would, SizeIs(1));
  EXPECT_EQ(would[0].at("job"), job);
  const auto gains = events_of(dry, "dry_run");
  ASSERT_THAT(gains, SizeIs(1));
  EXPECT_EQ(gains[0].at("jobs_proposed_and_still_waiting"), 1);
  EXPECT_FALSE(std::filesystem::exists(cluster_->folder() / "lock"));
}

}  // namespace
}  // namespace yard::testing
