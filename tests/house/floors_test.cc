// Layering of folders: a file includes only its own floor and those below. Headers of future events
// stay out of policies, heavy libraries have few includers, and files stay short.
#include <gtest/gtest.h>

#include "tests/house/source_tree.h"

namespace yard::testing {
namespace {

TEST(Floors, SourceTreeFollowsTheRules) {
  const SourceTree tree = read_source_tree(".");
  ASSERT_TRUE(tree.contains("env/base/core/version.cc")) << "not run in the source root";
  for (const std::string& sentence : broken_rules(tree)) ADD_FAILURE() << sentence;
}

// Checks each rule on a small tree that breaks it.
std::vector<std::string> broken_by(const std::string& path, const std::string& header) {
  return broken_rules({{path, {10, {header}}}});
}

TEST(Floors, UpwardIncludesAreDetected) {
  EXPECT_FALSE(broken_by("env/base/text/text.h", "env/cluster/spec.h").empty());
  EXPECT_FALSE(broken_by("env/cluster/spec.cc", "env/trace/core/job.h").empty())
      << "trace is above cluster";
  EXPECT_FALSE(broken_by("env/sim/rules/rules.h", "env/predict/survival.h").empty());
  EXPECT_FALSE(broken_by("env/predict/table.cc", "env/scheduling/joint.h").empty());
  EXPECT_FALSE(broken_by("env/scheduling/joint.cc", "env/predict/survival.h").empty());
  EXPECT_FALSE(broken_by("env/sim/rules/rules.h", "env/task/agent.h").empty());
  EXPECT_FALSE(broken_by("env/task/agent.h", "policies/policy.h").empty());
  EXPECT_FALSE(broken_by("policies/heuristic/fifo.cc", "policies/learned/network.h").empty());
  EXPECT_FALSE(broken_by("policies/learned/network.cc", "agents/learners/ppo.h").empty());
  EXPECT_FALSE(broken_by("agents/learners/ppo.cc", "serving/net/server.h").empty());
  EXPECT_FALSE(broken_by("serving/net/server.cc", "experiments/run/run.h").empty());
  EXPECT_FALSE(broken_by("experiments/report/page.cc", "tests/support/require.h").empty());
}

TEST(Floors, DownwardIncludesAreAllowed) {
  EXPECT_TRUE(broken_by("env/sim/rules/rules.h", "env/trace/core/job.h").empty());
  EXPECT_TRUE(broken_by("env/predict/survival.h", "env/sim/view/view.h").empty());
  EXPECT_TRUE(broken_by("policies/heuristic/fifo.cc", "policies/policy.h").empty());
  EXPECT_TRUE(broken_by("policies/learned/network.cc", "policies/policy.h").empty());
  EXPECT_TRUE(broken_by("agents/learners/ppo.cc", "env/batch/batch.h").empty());
  EXPECT_TRUE(broken_by("experiments/report/page.cc", "env/sim/state/truth.h").empty());
}

TEST(Floors, IndirectIncludesOfTheTruthAreDetected) {
  EXPECT_FALSE(broken_by("policies/heuristic/fifo.cc", "env/sim/state/truth.h").empty());
  EXPECT_FALSE(broken_by("env/predict/survival.cc", "env/sim/state/truth.h").empty());
  EXPECT_FALSE(broken_by("env/task/agent.h", "env/sim/state/event_queue.h").empty());
  const SourceTree through = {{"serving/net/state.cc", {10, {"env/sim/rules/engine.h"}}},
                              {"env/sim/rules/engine.h", {10, {"env/sim/state/truth.h"}}},
                              {"env/sim/state/truth.h", {10, {}}}};
  const auto broken = broken_rules(through);
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0],
            "serving/net/state.cc may not know the truth: "
            "serving/net/state.cc -> env/sim/rules/engine.h -> env/sim/state/truth.h");
}

TEST(Floors, HeavyHeadersStayInTheirFolders) {
  EXPECT_FALSE(broken_by("experiments/report/page.cc", "torch/torch.h").empty());
  EXPECT_FALSE(broken_by("agents/learners/ppo.cc", "grpcpp/grpcpp.h").empty());
  EXPECT_FALSE(broken_by("env/cluster/spec.h", "yaml-cpp/yaml.h").empty());
  EXPECT_TRUE(broken_by("env/cluster/spec.cc", "yaml-cpp/yaml.h").empty());
  EXPECT_TRUE(broken_by("agents/learners/ppo.cc", "torch/torch.h").empty());
  EXPECT_TRUE(broken_by("serving/net/server.cc", "grpcpp/grpcpp.h").empty());
}

TEST(Floors, LongFilesAndSharedReferencesAreDetected) {
  EXPECT_FALSE(broken_rules({{"env/base/text/text.cc", {501, {}}}}).empty());
  EXPECT_TRUE(broken_rules({{"env/base/text/text.cc", {500, {}}}}).empty());
  EXPECT_FALSE(broken_by("tests/reference/world_reference.cc", "env/sim/state/state.h").empty());
}

TEST(Floors, SubfoldersIncludeOnlyEarlierOnes) {
  EXPECT_TRUE(broken_by("env/sim/rules/rules.h", "env/sim/state/state.h").empty());
  EXPECT_FALSE(broken_by("env/sim/state/state.h", "env/sim/rules/rules.h").empty());
  EXPECT_FALSE(broken_by("env/trace/core/job.h", "env/trace/formats/sacct/rows.h").empty());
  EXPECT_FALSE(broken_by("env/sim/rules.h", "env/cluster/spec.h").empty()) << "in no subfolder";
  EXPECT_FALSE(broken_by("experiments/report/page.cc", "agents/learners/ppo.h").empty());
  EXPECT_TRUE(broken_by("experiments/train/session.cc", "agents/learners/ppo.h").empty());
}

TEST(Floors, OverfullFoldersAreDetected) {
  SourceTree tree;
  for (int i = 0; i < 40; ++i) tree["env/task/t" + std::to_string(i) + ".cc"] = {10, {}};
  EXPECT_TRUE(broken_rules(tree).empty());
  tree["env/task/t40.cc"] = {10, {}};
  EXPECT_FALSE(broken_rules(tree).empty());
}

TEST(Floors, IncludeLinesAreRead) {
  EXPECT_EQ(included_header("#include \"env/base/text/text.h\""), "env/base/text/text.h");
  EXPECT_EQ(included_header("  #  include <torch/torch.h>  // heavy"), "torch/torch.h");
  EXPECT_EQ(included_header("// #include <torch/torch.h>"), "");
  EXPECT_EQ(included_header("#define X \"env/base/text/text.h\""), "");
}

}  // namespace
}  // namespace yard::testing
