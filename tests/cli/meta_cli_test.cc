// Meta-learning trains on many job mixes and gives weights which adapt to another mix in a few
// episodes. A killed and resumed run gives the same weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "env/base/files/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kCells =
    "congestions: [0]\n"
    "traces:\n"
    "  busy: {synthetic: habits, jobs: 200, cluster: 2x8, settings: {load: 1.2}}\n"
    "  calm: {synthetic: habits, jobs: 200, cluster: 2x8, settings: {load: 0.6}}\n"
    "  held-out: {synthetic: habits, jobs: 200, cluster: 2x8, seed: 9}\n"
    "  other: {synthetic: habits, jobs: 200, cluster: 3x8, seed: 7}\n"
    "groups:\n"
    "  train: {traces: [busy, calm]}\n"
    "  validate: {traces: [held-out, other]}\n"
    "  shift: {traces: [other]}\n";

constexpr const char* kMetaConfig =
    "agent: sched2\nlearner: group\ncells: cells.yaml\nonly: [train]\nvalidate_on: [validate]\n"
    "draws: 1\nepisode_jobs: 30\nnum_envs: 5\ngroup: 5\nhidden: 8\nthreads: 1\nupdates: 12\n"
    "validate_every: 2\nvalidate_windows: 2\nvalidate_jobs: 30\nmeta_updates: 2\n"
    "adapt_updates: 2\nreward_scale: 1e-5\n";

class Meta : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!trainer_built()) GTEST_SKIP() << "built without LibTorch";
    folder_.write("cells.yaml", kCells);
    folder_.write("meta.yaml", kMetaConfig);
  }
  static Json provenance(const std::string& checkpoint) {
    return Json::parse(read_file(checkpoint + "/manifest.json"))["provenance"];
  }
  Folder folder_;
};

TEST_F(Meta, LearnsFromMixesAndAdaptsToANewOne) {
  ASSERT_EQ(shell("yardmaster train meta.yaml --out meta").code, 0);
  const Json origin = provenance("meta/checkpoints/last");
  EXPECT_EQ(origin["grounds"].size(), 2u);
  EXPECT_EQ(origin["episodes"], 13 * 5) << "one more rollout, for the normaliser";
  EXPECT_THAT(read_file("meta/metrics.csv"), HasSubstr("charts/episodes"));

  const std::string adapt =
      "yardmaster train meta.yaml --set only=shift meta_updates=0 adapt_updates=0 updates=3 "
      "validate_every=3 ";
  const Result adapted = shell(adapt + "start=meta/checkpoints/best --out adapted");
  ASSERT_EQ(adapted.code, 0) << adapted.err;
  EXPECT_EQ(provenance("adapted/checkpoints/last")["episodes"], 3 * 5);
  EXPECT_EQ(shell("yardmaster verify --checkpoint adapted/checkpoints/last").code, 0);
  ASSERT_EQ(shell(adapt + "--out scratch").code, 0);
  EXPECT_EQ(provenance("scratch/checkpoints/last")["episodes"], 4 * 5);

  const Result refused = shell("yardmaster train meta.yaml --set updates=5 --out no");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("updates: expected a multiple of meta_updates = 2, got 5"));
}

TEST_F(Meta, ResumesIdenticallyAfterKills) {
  ASSERT_EQ(shell("yardmaster train meta.yaml --out whole").code, 0);
  const Result killed = shell(
      "yardmaster train meta.yaml --out run & pid=$!; "
      "while kill -0 $pid && [ ! -e run/checkpoints/training_state ]; do sleep 0.02; done; "
      "sleep 0.0$(date +%N | cut -c1-2); kill -9 $pid; wait $pid");
  ASSERT_EQ(killed.code, 137) << killed.err;
  const Result asked = shell("yardmaster train --resume run --until 7");
  ASSERT_EQ(asked.code, 0) << asked.err;  // within a task
  const Result resumed = shell("yardmaster train --resume run");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  for (const char* name : {"last/model.safetensors", "best/model.safetensors",
                           "training_state/network.pt", "training_state/meta_network.pt",
                           "training_state/worlds-0.bin", "training_state/counters.json"}) {
    EXPECT_TRUE(read_file("run/checkpoints/" + std::string(name)) ==
                read_file("whole/checkpoints/" + std::string(name)))
        << name;
  }
}

TEST_F(Meta, TrainsOnSeveralRanks) {
  const Result two = shell("yardmaster train meta.yaml --set num_envs=10 --ranks 2 --out two");
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(provenance("two/checkpoints/last")["episodes"], 13 * 10);
}

}  // namespace
}  // namespace yard::testing
