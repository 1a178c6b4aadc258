// Opens policies from the text that a user writes.
#include "policies/learned/open_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "policies/learned/learned_policy.h"
#include "tests/support/checkpoints.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text, const Settings& settings = {}) {
  try {
    open_policy(text, settings);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(OpenPolicy, OpensACheckpoint) {
  const Scratch scratch;
  const std::string folder = (scratch.path() / "pilot").string();
  const Checkpoint saved = small_checkpoint();
  save_checkpoint(saved, folder);
  const OpenedPolicy opened = open_policy("checkpoint:" + folder, {});
  EXPECT_EQ(opened.name, "dispatcher");
  EXPECT_EQ(opened.digest, load_checkpoint(folder).digest);
  EXPECT_EQ(opened.info.level, InformationLevel::kHistory);
  EXPECT_EQ(opened.info.level, opened.policy->level());
  EXPECT_TRUE(opened.info.servable);
  EXPECT_TRUE(opened.info.preemptive);
  const Scene scene("2x8", random_jobs(Rng{1}, {.count = 60}));
  SceneRunner runner(scene, *opened.policy);
  runner.play();
  EXPECT_FALSE(runner.failed());
  for (const JobOutcome& job : runner.jobs()) EXPECT_NE(job.end_us, kNone);

  Settings settings;
  settings.overlay("placement=best-fit", "test");
  EXPECT_THAT(refusal("checkpoint:" + folder, settings), HasSubstr("placement"));
}

TEST(OpenPolicy, UnknownNetworkIsRejected) {
  const Scratch scratch;
  const std::string folder = (scratch.path() / "other").string();
  Checkpoint c = small_checkpoint();
  c.network = "oracle-of-delphi";
  save_checkpoint(c, folder);
  EXPECT_THAT(refusal("checkpoint:" + folder), HasSubstr("oracle-of-delphi"));
  EXPECT_THAT(refusal("checkpoint:no/such/folder"), HasSubstr("no/such/folder"));
}

// Returns when each job ends.
std::vector<int64_t> ends(const Policy& policy) {
  const Scene scene("2x8", random_jobs(Rng{1}, {.count = 60}));
  SceneRunner runner(scene, policy);
  runner.play();
  EXPECT_FALSE(runner.failed());
  std::vector<int64_t> out;
  for (const JobOutcome& job : runner.jobs()) out.push_back(job.end_us);
  return out;
}

// Every untrained network has a last layer of zeros. So only the task of a checkpoint is needed to
// reproduce its untrained network.
TEST(OpenPolicy, UntrainedNetworkHasALastLayerOfZeros) {
  const Scratch scratch;
  const auto saved = [&](const char* name, const Checkpoint& checkpoint) {
    const std::string folder = (scratch.path() / name).string();
    save_checkpoint(checkpoint, folder);
    return folder;
  };
  Checkpoint first = small_checkpoint(), other = first;
  for (const char* head : {"w3", "b3", "w5", "b5"}) {
    std::ranges::fill(first.weights.at(head).data, 0.0F);
  }
  for (float& w : other.weights.at("w3").data) w *= 100;  // outweighs the prior
  const std::string before = saved("before", first), after = saved("after", other);
  const OpenedPolicy trained = open_policy("checkpoint:" + after, {});
  EXPECT_EQ(trained.untrained, "untrained:" + after);
  const OpenedPolicy untrained = open_policy(trained.untrained, {});
  EXPECT_EQ(untrained.untrained, "");
  EXPECT_EQ(ends(*untrained.policy), ends(*open_policy("checkpoint:" + before, {}).policy));
  EXPECT_NE(ends(*untrained.policy), ends(*trained.policy));
  EXPECT_NE(untrained.digest, trained.digest);
  EXPECT_EQ(untrained.digest, open_policy("untrained:" + before, {}).digest) << "other weights";
  EXPECT_EQ(open_policy("las", {}).untrained, "");
}

TEST(OpenPolicy, UntrainedRuleHasItsDefaultValues) {
  const Scratch scratch;
  const std::string folder = (scratch.path() / "rule").string();
  Settings searched;
  searched.overlay("gpu_exponent=0.1", "test");
  searched.overlay("move=false", "test");
  save_checkpoint(expert_checkpoint("pilot", searched), folder);
  Settings settings;
  settings.overlay("move=false", "test");
  EXPECT_EQ(ends(*open_policy("untrained:" + folder, {}).policy),
            ends(*open_policy("joint", settings).policy));
  EXPECT_NE(ends(*open_policy("untrained:" + folder, {}).policy),
            ends(*open_policy("checkpoint:" + folder, {}).policy));
}

TEST(OpenPolicy, OpensATunedFileWithItsSettings) {
  const Scratch scratch;
  const std::string file = (scratch.path() / "tuned.yaml").string();
  write_file_atomic(file, "policy: greedy\nsettings:\n  placement: best-fit\n");
  const OpenedPolicy opened = open_policy(file, {});
  EXPECT_EQ(opened.name, file);
  EXPECT_EQ(opened.digest, "");
  // Best-fit puts 2 GPUs on the node where 6 run; first-fit uses the node that is empty by then.
  const auto first_node = [&](const Settings& settings) {
    const Scene scene("2x8", jobs_of({{0, 8, 10}, {0, 6, 100}, {20, 2, 50}}), no_costs());
    const OpenedPolicy p = open_policy(file, settings);
    SceneRunner runner(scene, *p.policy);
    while (runner.view().now_us() < 20 * kSecond && runner.step()) {
    }
    for (const Edit& edit : runner.plan().edits) {
      if (edit.verb == Verb::kStart) {
        return runner.plan().pieces[static_cast<size_t>(edit.first_piece)].node;
      }
    }
    return int32_t{-1};
  };
  EXPECT_EQ(first_node({}), 1);
  Settings over;
  over.overlay("placement=first-fit", "test");
  EXPECT_EQ(first_node(over), 0) << "what is given on the command line wins";

  write_file_atomic(file, "policy: greedy\nsettings:\n  no_such_key: 1\n");
  EXPECT_THAT(refusal(file), HasSubstr("no_such_key"));
  write_file_atomic(file, "settings:\n  placement: best-fit\n");
  EXPECT_THAT(refusal(file), HasSubstr("policy"));
  EXPECT_THAT(refusal("no_such.yaml"), HasSubstr("no_such.yaml"));
}

TEST(OpenPolicy, OpensARegisteredName) {
  EXPECT_EQ(open_policy("las", {}).name, "las");
  EXPECT_THAT(refusal("no-such-policy"),
              ::testing::AllOf(HasSubstr("no-such-policy"), HasSubstr("greedy")));
}

}  // namespace
}  // namespace yard::testing
