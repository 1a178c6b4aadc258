// Each published agent is trained, killed at a random moment, resumed, verified and evaluated with
// the same commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "env/base/files/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Case {
  std::string name, agent, learner;
  std::string jobs;      // a generator and a cluster
  std::string settings;  // added to the configuration
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class EveryAgent : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!trainer_built()) GTEST_SKIP() << "built without LibTorch";
    const Case& c = GetParam();
    folder_.write("small.yaml", "agent: " + c.agent + "\nlearner: " + c.learner +
                                    "\nnetwork: job-scorer\ntrace: synthetic:" + generator() +
                                    "\ncluster: " + cluster() +
                                    "\ntrace_jobs: 200\nepisode_jobs: 20\nnum_envs: 4\nthreads: 1\n"
                                    "hidden: 8\nupdates: 8\nvalidate_every: 2\n"
                                    "validate_windows: 1\nvalidate_jobs: 30\n" +
                                    c.settings);
  }
  std::string generator() const { return GetParam().jobs.substr(0, GetParam().jobs.find(' ')); }
  std::string cluster() const { return GetParam().jobs.substr(GetParam().jobs.find(' ') + 1); }

  Folder folder_;
};

TEST_P(EveryAgent, TrainsResumesVerifiesAndEvaluates) {
  const Result whole = shell("yardmaster train small.yaml --out whole");
  ASSERT_EQ(whole.code, 0) << whole.err;
  const Result killed = shell(
      "yardmaster train small.yaml --out run & pid=$!; "
      "while kill -0 $pid && [ ! -e run/checkpoints/training_state ]; do sleep 0.01; done; "
      "kill -9 $pid; wait $pid");
  ASSERT_EQ(killed.code, 137) << killed.err;
  ASSERT_EQ(shell("yardmaster train --resume run --until 5").code, 0);  // between validations
  const Result resumed = shell("yardmaster train --resume run");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  int compared = 0;
  for (const char* folder : {"last", "best", "training_state"}) {
    for (const auto& entry : fs::directory_iterator(fs::path("whole/checkpoints") / folder)) {
      const std::string name = entry.path().filename().string();
      // The first three files record times. worlds-0.bin keeps bytes which undone decisions wrote
      // and which are never read.
      const std::set<std::string> others = {"cost.json", "manifest.json", "files.json",
                                            "worlds-0.bin"};
      if (others.contains(name)) continue;
      const fs::path same = fs::path("run/checkpoints") / folder / name;
      EXPECT_TRUE(read_file(entry.path()) == read_file(same)) << same;
      ++compared;
    }
  }
  EXPECT_GE(compared, 9);
  const std::string best = "run/checkpoints/best";
  const Result verified = shell("yardmaster verify --json --checkpoint " + best);
  EXPECT_EQ(verified.code, 0) << verified.err;
  const Json same = Json::parse(verified.out);
  for (const char* of : {"native_max_difference", "libtorch_max_difference"}) {
    EXPECT_LT(same[of], 1e-4) << of;
  }
  EXPECT_GT(same["golden_states"], 0);
  // Where ONNX Runtime is installed its outputs agree, too. Elsewhere the JSON says "not ...".
  const Json& onnx = same["onnx_max_difference"];
  EXPECT_TRUE(onnx.is_number() ? onnx < 1e-4 : same["onnx"].get<std::string>().starts_with("not "))
      << same;
  const Result evaluated =
      shell("yardmaster evaluate --trace synthetic:" + generator() + " --cluster " + cluster() +
            " --generate-jobs 100 --replicas 1 --against fifo --json --checkpoint " + best);
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_GT(Json::parse(evaluated.out)["cells"][0]["mean_jct_s"], 0);
}

// The sequence of dl2-start.yaml and dl2.yaml.
TEST(Dl2, StartsFromAClone) {
  if (!trainer_built()) GTEST_SKIP() << "built without LibTorch";
  Folder folder;
  folder.write("small.yaml",
               "agent: dl2\nnetwork: job-scorer\ntrace: synthetic:servers\ncluster: 6x2\n"
               "trace_jobs: 200\nepisode_jobs: 20\nnum_envs: 4\nthreads: 1\nhidden: 8\nupdates: 1\n"
               "validate_windows: 1\nvalidate_jobs: 30\nprior_gap: 0\n");
  const Result clone = shell(
      "yardmaster train small.yaml --set learner=clone ent_coef=10 validate_every=1 --out clone");
  ASSERT_EQ(clone.code, 0) << clone.err;
  const std::string on =
      "yardmaster train small.yaml --set learner=group group=2 validate_every=1 "
      "start=clone/checkpoints/best ";
  // With a learning rate of 0 the weights stay those of the clone.
  const Result same = shell(on + "learning_rate=0 --out same");
  ASSERT_EQ(same.code, 0) << same.err;
  const std::string weights = "/checkpoints/best/model.safetensors";
  EXPECT_TRUE(read_file("same" + weights) == read_file("clone" + weights));
  const Result later = shell(on + "learning_rate=0.01 --out later");
  ASSERT_EQ(later.code, 0) << later.err;
  // The best checkpoint may be that of update 0, so the last one is compared.
  EXPECT_FALSE(read_file("later/checkpoints/last/model.safetensors") ==
               read_file("clone" + weights));
  const Result other = shell(on + "prior_gap=1 --out other");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, ::testing::HasSubstr("prior_gap"));
}

INSTANTIATE_TEST_SUITE_P(
    OfTheLiterature, EveryAgent,
    ::testing::Values(Case{"sched2", "sched2", "dqn", "habits 4x4",
                           "num_steps: 8\nbuffer_size: 2000\nbatch_size: 256\n"},
                      Case{"harmony", "harmony", "group", "servers 6x2",
                           "generator: [most=0, drawn=true]\ngroup: 2\n"},
                      Case{"harmony_paper", "harmony", "actor-critic", "servers 6x2",
                           "generator: [most=0, drawn=true]\nnum_steps: 8\nexplore: 0.1\n"},
                      Case{"dl2", "dl2", "group", "servers 6x2", "group: 2\n"},
                      Case{"mlfs", "mlfs", "group", "habits 4x4", "group: 2\n"},
                      Case{"meta", "meta", "group", "rings 4x4", "group: 2\n"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace yard::testing
