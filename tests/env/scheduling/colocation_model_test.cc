// The terms of co-location counted by hand, and a least-squares fit which recovers known weights.
#include "env/scheduling/colocation_model.h"

#include <gtest/gtest.h>

#include "tests/support/scene.h"

namespace yard::testing {
namespace {

TEST(LeastSquares, RecoversTheTrueWeights) {
  LeastSquares<4> fit{};
  fit.begin({1, 1, 0, 0}, 1);
  fit.begin({9, 9, 9, 9}, 1);  // ignored: the fit has begun
  EXPECT_EQ(fit.predict({1, 0.5, 3, 4}), 1.5);
  Rng rng(3);
  for (int k = 0; k < 2000; ++k) {
    const double g = rng.uniform(), c = rng.uniform(), s = k % 2;
    fit.learn({1, g, c, s}, 1 + 0.4 * g + 0.2 * c + 0.1 * s + 0.05 * (rng.uniform() - 0.5));
  }
  EXPECT_NEAR(fit.predict({1, 1, 0, 0}), 1.4, 0.02);
  EXPECT_NEAR(fit.predict({1, 0, 1, 1}), 1.3, 0.02);
}

// The inputs of a ColocationModel, in addition to the view.
struct Watched {
  explicit Watched(const View& v)
      : memory(ColocationModel::Learned::bytes(v)),
        bump(memory.data()),
        learned(v, bump),
        throughput_model(v),
        colocation_model(v, throughput_model, learned) {
    learned.begin(ColocationModel::initial_weights());
  }
  std::vector<std::byte> memory;
  BumpAllocator bump;
  ColocationModel::Learned learned;
  ThroughputModel throughput_model;
  ColocationModel colocation_model;
};

TEST(ColocationModel, CountsCoLocatedJobs) {
  const Scene scene("2x4", jobs_of({{0, 2, 100}, {0, 1, 100}, {10, 2, 100}}), no_costs());
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.step());
  ASSERT_TRUE(runner.advance());  // the third job waits
  const View& view = runner.view();
  const Watched w(view);
  const int32_t two = view.holder_slot(0), one = view.holder_slot(1), third = view.queue_head();
  ASSERT_EQ(view.gpus(two), 2);
  ColocationModel::Terms expected{};
  expected[ColocationModel::kIntercept] = 1;
  expected[ColocationModel::kOwnType] = expected[ColocationModel::kOtherTypes] = 0.25;
  EXPECT_EQ(w.colocation_model.terms(two), expected);
  expected[ColocationModel::kOwnType] = expected[ColocationModel::kOtherTypes] = 0.5;
  EXPECT_EQ(w.colocation_model.terms(one), expected);
  // Initial weights: a job is twice as slow on a node which is otherwise full.
  const Piece colocated{0, 1}, alone{1, 2};
  EXPECT_DOUBLE_EQ(w.colocation_model.predicted_time_per_work(third, std::span(&colocated, 1)),
                   1.75);
  EXPECT_DOUBLE_EQ(w.colocation_model.predicted_time_per_work(third, std::span(&alone, 1)), 1);
  EXPECT_DOUBLE_EQ(w.colocation_model.interference_cost(third, std::span(&alone, 1)), 0);
  EXPECT_DOUBLE_EQ(w.colocation_model.interference_cost(third, std::span(&colocated, 1)),
                   2 * (1 - 1.25 / 1.5) + 1 * (1 - 1.5 / 1.75));
}

// Servers with eight cores which offer twelve.
TEST(ColocationModel, CountsRequestedCpusAndServersSeparately) {
  Job job;
  job.gpus = 1;
  job.run_us = 100 * kSecond;
  RoleGroup group;
  for (const char* role : {"worker", "ps"}) {
    group.role = role;
    group.task.gpus = group.role == "worker" ? 1 : 0;
    group.task.cpu_milli = group.role == "worker" ? 5000 : 2000;
    job.groups.push_back(group);
  }
  std::vector<Job> jobs(2, job);
  jobs[0].id = "a", jobs[1].id = "b";
  jobs[1].submit_us = 10 * kSecond;
  const Scene scene(load_cluster("servers-6"), jobs, no_costs());
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.step());
  ASSERT_TRUE(runner.advance());
  const View& view = runner.view();
  const Watched w(view);
  const int32_t first = view.holder_slot(0), second = view.queue_head();
  const int32_t node = view.part_node(view.first_part(first));
  ColocationModel::Terms expected{};
  expected[ColocationModel::kIntercept] = 1;
  EXPECT_EQ(w.colocation_model.terms(first), expected);
  const Piece worker{node, 1, 0, 1};
  // Half the GPUs are held, and twelve cores of eight are requested.
  EXPECT_DOUBLE_EQ(w.colocation_model.predicted_time_per_work(second, std::span(&worker, 1)),
                   1 + 0.5 + 0.5);
  EXPECT_DOUBLE_EQ(w.colocation_model.interference_cost(second, std::span(&worker, 1)),
                   1 - 1 / 2.0);
}

}  // namespace
}  // namespace yard::testing
