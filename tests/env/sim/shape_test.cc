// Legal placements, case by case: tasks with shares, memory and pieces which name their GPUs.
#include "env/sim/rules/shape.h"

#include <gtest/gtest.h>

#include <vector>

#include "env/sim/rules/rules.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

Job job_of(const char* id, std::vector<RoleGroup> groups) {
  Job job = jobs_of({{0, 1, 100}})[0];
  job.id = id;
  job.groups = std::move(groups);
  for (RoleGroup& g : job.groups) g.task.gpu_mem_gib = 0;
  return job;
}

// One node of two GPUs, 8 cores and 4 GiB; the jobs wait in slots 0, 1, ...
class OneNode {
 public:
  explicit OneNode(const std::vector<Job>& jobs)
      : scene_(cluster(), jobs), world_(scene_.fixed(), 8) {
    world_.reset(0, scene_.size());
    EXPECT_TRUE(world_.advance(scene_.truth()));
  }

  bool legal(int32_t slot, const std::vector<Piece>& pieces) const {
    return legal_start(scene_.fixed(), world_.state(), slot, pieces.data(),
                       static_cast<int32_t>(pieces.size()));
  }

  void start(int32_t slot, const std::vector<Piece>& pieces) {
    ASSERT_TRUE(legal(slot, pieces));
    yard::start(scene_.fixed(), world_.state(), slot, pieces.data(),
                static_cast<int32_t>(pieces.size()));
  }

  const SimState& state() const { return world_.state(); }

 private:
  static ClusterSpec cluster() {
    ClusterSpec spec = load_cluster("1x2");
    spec.types[0].shares = Shares::kMilli;
    spec.nodes[0].cpus = 8;
    spec.nodes[0].mem_gib = 4;
    return spec;
  }

  Scene scene_;
  World world_;
};

// Pieces: node, GPUs, group, tasks, mask.
TEST(Shapes, EachShareOfAJobUsesMemoryAndCores) {
  OneNode two({job_of("a", {group_of(2, 0, 300, 1000, 2048)})});
  EXPECT_TRUE(two.legal(0, {{0, 0, 0, 2}}));
  OneNode mem({job_of("a", {group_of(2, 0, 300, 1000, 2049)})});
  EXPECT_FALSE(mem.legal(0, {{0, 0, 0, 2}}));
  OneNode cpu({job_of("a", {group_of(2, 0, 300, 4001, 0)})});
  EXPECT_FALSE(cpu.legal(0, {{0, 0, 0, 2}}));
}

TEST(Shapes, OneThousandthIsAShare) {
  OneNode node({job_of("a", {group_of(1, 0, 1, 0, 0)}), job_of("b", {group_of(1, 0, 999, 0, 0)}),
                job_of("c", {group_of(1, 0, 1, 0, 0)})});
  node.start(0, {{0, 0, 0, 1, 0b10}});
  EXPECT_EQ(node.state().share_milli[1], 999);
  node.start(1, {{0, 0, 0, 1, 0b10}});
  EXPECT_FALSE(node.legal(2, {{0, 0, 0, 1, 0b10}}));
  EXPECT_TRUE(node.legal(2, {{0, 0, 0, 1}})) << "the other GPU is whole";
}

TEST(Shapes, PieceWithANamedGpuGetsThatOneOrNone) {
  OneNode node(
      {job_of("a", {group_of(1, 0, 400, 0, 0)}), job_of("b", {group_of(2, 0, 600, 0, 0)})});
  node.start(0, {{0, 0, 0, 1, 0b01}});
  EXPECT_TRUE(node.legal(1, {{0, 0, 0, 1, 0b01}, {0, 0, 0, 1, 0b10}}));
  EXPECT_FALSE(node.legal(1, {{0, 0, 0, 1, 0b10}, {0, 0, 0, 1, 0b10}})) << "twice 600";
  EXPECT_FALSE(node.legal(1, {{0, 0, 0, 1, 0b01}, {0, 0, 0, 1, 0b01}}));
  EXPECT_FALSE(node.legal(1, {{0, 0, 0, 2, 0b10}})) << "a share a piece";
  EXPECT_FALSE(node.legal(1, {{0, 0, 0, 1, 0b11}, {0, 0, 0, 1, 0b10}})) << "one GPU a share";
}

TEST(Shapes, NamedWholeGpusMatchTheTasks) {
  OneNode node(
      {job_of("a", {group_of(2, 1, 0, 4000, 2048)}), job_of("b", {group_of(2, 1, 0, 4001, 0)}),
       job_of("c", {group_of(2, 1, 0, 0, 2049)}), job_of("d", {group_of(1, 0, 500, 0, 0)})});
  EXPECT_TRUE(node.legal(0, {{0, 2, 0, 2, 0b11}}));
  EXPECT_FALSE(node.legal(0, {{0, 2, 0, 2, 0b01}})) << "one GPU named for two";
  EXPECT_FALSE(node.legal(0, {{0, 1, 0, 2, 0b11}}));
  EXPECT_FALSE(node.legal(1, {{0, 2, 0, 2, 0b11}})) << "cores";
  EXPECT_FALSE(node.legal(2, {{0, 2, 0, 2, 0b11}})) << "memory";
  node.start(3, {{0, 0, 0, 1, 0b01}});
  EXPECT_FALSE(node.legal(0, {{0, 2, 0, 2, 0b11}})) << "one GPU has a share";
}

TEST(Shapes, PieceOfAnUnknownGroupIsIllegal) {
  OneNode node({job_of("a", {group_of(1, 1, 0, 0, 0)}), job_of("b", {group_of(1, 1, 0, 1000, 0)})});
  EXPECT_TRUE(node.legal(0, {{0, 1, 0, 1}}));
  EXPECT_FALSE(node.legal(0, {{0, 1, 0, 1}, {0, 1, 1, 1}})) << "b's group is stored after a's";
  EXPECT_FALSE(node.legal(1, {{0, 1, 0, 1}, {0, 1, -1, 1}}));
  EXPECT_FALSE(node.legal(0, {{0, 1, 0, 1}, {0, 1, 0, 1}})) << "one task more than requested";
  EXPECT_FALSE(node.legal(0, {{1, 1, 0, 1}}));
  EXPECT_FALSE(node.legal(0, {{0, 0, 0, 0}, {0, 1, 0, 1}})) << "a piece without tasks";
}

}  // namespace
}  // namespace yard::testing
