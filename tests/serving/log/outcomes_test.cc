// Checks the outcomes of jobs that are derived from a sequence of hand-made snapshots.
#include "serving/log/outcomes.h"

#include <gtest/gtest.h>

#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

// Two nodes. "a" and "b" have run for 3,600 s, "c" waits.
pb::DecideRequest first_snapshot() {
  pb::DecideRequest request = cluster_of(2);
  add_running(request, "a", 4, "n0").set_user("ada");
  add_running(request, "b", 4, "n1").set_user("bob");
  add_waiting(request, "c", 8).set_user("cleo");
  return request;
}

pb::DecideRequest without(pb::DecideRequest request, const std::string& id, double time_s) {
  request.set_time_s(time_s);
  for (int i = request.jobs_size() - 1; i >= 0; --i) {
    if (request.jobs(i).id() == id) request.mutable_jobs()->DeleteSubrange(i, 1);
  }
  return request;
}

void finish(pb::DecideRequest& request, const pb::Job& job, double run_s, double end_s,
            const std::string& id = "") {
  pb::FinishedJob& finished_job = *request.add_finished();
  finished_job.set_user(job.user());
  finished_job.set_name(job.name());
  finished_job.set_gpus(job.gpus());
  finished_job.set_submit_s(job.submit_s());
  finished_job.set_run_s(run_s);
  finished_job.set_end_s(end_s);
  finished_job.set_id(id);
}

std::vector<pb::LoggedOutcome> update(JobOutcomeTracker& outcomes, const pb::DecideRequest& request,
                                      const pb::DecideResponse& response = {}) {
  return outcomes.update(std::make_shared<const pb::DecideRequest>(request), response);
}

TEST(JobOutcomeTracker, PresentJobsHaveNoOutcome) {
  JobOutcomeTracker outcomes;
  EXPECT_TRUE(update(outcomes, first_snapshot()).empty());
  pb::DecideRequest later = first_snapshot();
  later.set_time_s(10'060);
  add_waiting(later, "d", 1);
  EXPECT_TRUE(update(outcomes, later).empty());
}

TEST(JobOutcomeTracker, MissingJobsHaveBoundsOnTheirRunTime) {
  JobOutcomeTracker outcomes;
  update(outcomes, first_snapshot());
  const auto logged = update(outcomes, without(first_snapshot(), "a", 10'060));
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_EQ(logged[0].end(), pb::LoggedOutcome::GONE);
  EXPECT_EQ(logged[0].job().id(), "a");
  EXPECT_EQ(logged[0].job().user(), "ada");
  EXPECT_EQ(logged[0].job().placement(0).node(), "n0");
  EXPECT_EQ(logged[0].seen_s(), 10'000);
  EXPECT_EQ(logged[0].missed_s(), 10'060);
  EXPECT_EQ(logged[0].run_s(), 3600);
  EXPECT_EQ(logged[0].max_run_s(), 3660);
  EXPECT_TRUE(update(outcomes, without(first_snapshot(), "a", 10'120)).empty()) << "reported once";
}

TEST(JobOutcomeTracker, FinishedJobsAreMatchedByIdOrAttributes) {
  for (const std::string id : {"a", ""}) {
    JobOutcomeTracker outcomes;
    const pb::DecideRequest first = first_snapshot();
    update(outcomes, first);
    pb::DecideRequest later = without(first, "a", 10'060);
    finish(later, first.jobs(0), 100, 5'000);  // a similar job, long ago
    finish(later, first.jobs(1), 3'650, 10'050, id.empty() ? "" : "b");
    finish(later, first.jobs(0), 3'640, 10'040, id);
    const auto logged = update(outcomes, later);
    ASSERT_EQ(logged.size(), 1u);
    EXPECT_EQ(logged[0].end(), pb::LoggedOutcome::FINISHED);
    EXPECT_EQ(logged[0].run_s(), 3'640);
    EXPECT_EQ(logged[0].max_run_s(), 3'640);
    EXPECT_EQ(logged[0].end_s(), 10'040);
  }
}

TEST(JobOutcomeTracker, SimilarJobsGetPossibleEnds) {
  JobOutcomeTracker outcomes;
  pb::DecideRequest first = first_snapshot();
  for (const int i : {0, 1}) {
    first.mutable_jobs(i)->set_user("ada");
    first.mutable_jobs(i)->set_submit_s(1000);
  }
  first.mutable_jobs(0)->set_attained_s(50);
  update(outcomes, first);
  pb::DecideRequest later = without(without(first, "a", 10'060), "b", 10'060);
  finish(later, first.jobs(0), 3'630, 10'030);
  finish(later, first.jobs(0), 90, 10'040);
  const auto logged = update(outcomes, later);
  ASSERT_EQ(logged.size(), 2u);
  EXPECT_EQ(logged[0].job().id(), "b");
  EXPECT_EQ(logged[0].run_s(), 3'630);
  EXPECT_EQ(logged[1].job().id(), "a");
  EXPECT_EQ(logged[1].run_s(), 90);
}

TEST(JobOutcomeTracker, StartingDecisionIsNamed) {
  JobOutcomeTracker outcomes;
  pb::DecideResponse response;
  response.set_decision_id("17");
  pb::Action& action = *response.add_actions();
  action.set_verb(pb::START);
  action.set_job("c");
  update(outcomes, first_snapshot(), response);
  response.Clear();
  response.set_decision_id("18");
  pb::DecideRequest later = first_snapshot();
  later.set_time_s(10'060);
  update(outcomes, later, response);
  const auto logged = update(outcomes, without(later, "c", 10'120));
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_EQ(logged[0].started_by(), "17");
  update(outcomes, first_snapshot());
}

TEST(JobOutcomeTracker, ReusedIdIsAnotherJob) {
  JobOutcomeTracker outcomes;
  update(outcomes, first_snapshot());
  pb::DecideRequest later = without(first_snapshot(), "a", 10'060);
  add_waiting(later, "a", 2);
  const auto logged = update(outcomes, later);
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_EQ(logged[0].job().gpus(), 4u);
}

TEST(JobOutcomeTracker, OlderSnapshotIsIgnored) {
  JobOutcomeTracker outcomes;
  update(outcomes, first_snapshot());
  EXPECT_TRUE(update(outcomes, without(first_snapshot(), "a", 9'990)).empty());
  EXPECT_EQ(update(outcomes, without(first_snapshot(), "b", 10'060)).size(), 1u);
}

TEST(JobOutcomeTracker, ClockSetBackStartsAgain) {
  JobOutcomeTracker outcomes;
  update(outcomes, first_snapshot());
  EXPECT_TRUE(update(outcomes, without(first_snapshot(), "a", 5'000)).empty());
  const auto logged = update(outcomes, without(without(first_snapshot(), "a", 0), "b", 5'010));
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_EQ(logged[0].job().id(), "b");
  EXPECT_EQ(logged[0].max_run_s(), 3'610);
}

TEST(JobOutcomeTracker, ClustersAreSeparate) {
  JobOutcomeTracker outcomes;
  update(outcomes, first_snapshot());
  pb::DecideRequest named = without(first_snapshot(), "a", 10'060);
  named.set_cluster("other");
  EXPECT_TRUE(update(outcomes, named).empty());
  pb::DecideRequest elsewhere;
  elsewhere.set_time_s(10'060);
  elsewhere.add_nodes()->set_name("x");
  EXPECT_TRUE(update(outcomes, elsewhere).empty());
  // Each cluster continues from its own last snapshot. Removing a node makes no other cluster.
  EXPECT_EQ(update(outcomes, without(named, "b", 10'120)).size(), 1u);
  pb::DecideRequest smaller = without(first_snapshot(), "a", 10'120);
  smaller.mutable_nodes()->DeleteSubrange(0, 1);
  const auto logged = update(outcomes, smaller);
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_EQ(logged[0].cluster(), "");
  EXPECT_EQ(logged[0].seen_s(), 10'000);
}

TEST(JobOutcomeTracker, NumberOfClustersIsLimited) {
  JobOutcomeTracker outcomes;
  update(outcomes, first_snapshot());
  for (int i = 0; i < 100; ++i) {
    pb::DecideRequest other = first_snapshot();
    other.set_cluster(std::to_string(i));
    update(outcomes, other);
  }
  EXPECT_TRUE(update(outcomes, without(first_snapshot(), "a", 10'060)).empty()) << "forgotten";
}

}  // namespace
}  // namespace yard::testing
