// A short training with the configuration of `make demo` beats its untrained network on unseen
// jobs. With a learning rate of 0 it gains nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
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

class Demo : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!trainer_built()) GTEST_SKIP() << "built without LibTorch";
  }

  // Trains for `updates` updates with the demo's configuration.
  void train(const std::string& out, int updates, const std::string& more) const {
    const std::string n = std::to_string(updates);
    const Result trained =
        shell("yardmaster train " + (root_ / "experiments/configs/demo.yaml").string() +
              " --set updates=" + n + " validate_every=" + n + " validate_windows=2 " + more +
              " --out " + out);
    ASSERT_EQ(trained.code, 0) << trained.err;
  }

  // Returns mean JCT divided by the untrained network's, averaged over eight unseen workloads.
  static double ratio_to_untrained(const std::string& run) {
    const std::string last = run + "/checkpoints/last";
    double sum = 0;
    for (int seed = 5001; seed <= 5008; ++seed) {
      const Result r = shell(
          "yardmaster simulate --trace synthetic:servers --cluster servers-6 --generate-jobs 200 "
          "--set trace.most=0 trace.drawn=true trace.worker_cores=3 trace.load=0.45 --json "
          "--seed " +
          std::to_string(seed) + " --policy checkpoint:" + last + ",untrained:" + last);
      EXPECT_EQ(r.code, 0) << r.err;
      const Json runs = Json::parse(r.out)["runs"];
      sum += std::log(runs[0]["mean_jct_s"].get<double>() / runs[1]["mean_jct_s"].get<double>());
    }
    return std::exp(sum / 8);
  }

  fs::path root_ = fs::current_path();  // of the sources
  Folder folder_;
};

TEST_F(Demo, TrainingImprovesOnTheUntrainedNetwork) {
  train("learned", 30, "");
  EXPECT_LT(ratio_to_untrained("learned"), 0.92);
  train("still", 1, "learning_rate=0");
  EXPECT_EQ(ratio_to_untrained("still"), 1);
  // The trained policy keeps the large job on one node, as an operator would.
  folder_.write("idle.csv",
                "job_id,user,gpus,submit_s,run_s\nbert,ada,8,900,3600\nresnet,bob,4,900,3600\n"
                "probe,bob,4,900,3600\n");
  const Result placed = shell(
      "yardmaster simulate --trace idle.csv --cluster 2x8:v100 --dump-at 1000 --dump-out at.json "
      "--policy checkpoint:learned/checkpoints/last");
  ASSERT_EQ(placed.code, 0) << placed.err;
  const Json at = Json::parse(read_file("at.json"))["dumps"][0]["states"][0];
  EXPECT_EQ(at["holding"], 3);
  std::set<std::string> nodes;
  for (const Json& node : at["nodes"]) {
    for (const Json& gpu : node["gpus"]) {
      if (!gpu["jobs"].empty() && gpu["jobs"][0] == "bert") nodes.insert(node["node"]);
    }
  }
  EXPECT_EQ(nodes.size(), 1u);
}

}  // namespace
}  // namespace yard::testing
