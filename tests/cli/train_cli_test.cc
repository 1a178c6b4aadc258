// `train` and `verify` from outside: run folders, refusals, and Ctrl-C.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "env/base/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// A training of a second or two.
constexpr const char* kConfig =
    "trace: synthetic:habits\ncluster: 2x8\ntrace_jobs: 400\nepisode_jobs: 40\nworlds: 4\ngroup: "
    "2\n"
    "hidden: 8\nthreads: 1\nvalidate_windows: 2\nvalidate_jobs: 40\nvalidate_every: 1\n";

bool trainer_built() {
  const char* bin = std::getenv("YARD_BIN");
  return fs::exists(fs::path(bin != nullptr ? bin : "build/bin") / "yardmaster-train");
}

class Train : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!trainer_built()) GTEST_SKIP() << "built without LibTorch";
    folder_.write("tiny.yaml", kConfig);
  }
  Folder folder_;
};

TEST_F(Train, WritesARunFolderWithACheckpointThatVerifies) {
  const Result trained = shell("yardmaster train tiny.yaml --set updates=2 --out run");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(trained.out, "run/checkpoints/best\n");
  EXPECT_THAT(read_file("run/config.yaml"), HasSubstr("updates: 2"));
  for (const char* name : {"model.safetensors", "golden.safetensors", "manifest.json"}) {
    EXPECT_TRUE(folder_.has("run/checkpoints/best/" + std::string(name))) << name;
    EXPECT_TRUE(folder_.has("run/checkpoints/last/" + std::string(name))) << name;
  }
  const Json manifest = Json::parse(read_file("run/checkpoints/last/manifest.json"));
  EXPECT_EQ(manifest["agent"], "pilot");
  EXPECT_EQ(manifest["provenance"]["updates"], 2);
  EXPECT_EQ(manifest["provenance"]["settings"]["hidden"], "8");
  EXPECT_GT(manifest["scores"][0]["validation_ratio_to_srsf_history"], 0.1);

  const Result verified = shell("yardmaster verify --checkpoint run/checkpoints/last --json");
  EXPECT_EQ(verified.code, 0) << verified.err;
  const Json figures = Json::parse(verified.out);
  EXPECT_EQ(figures["ok"], true);
  EXPECT_GT(figures["golden_states"], 0);
  EXPECT_LT(figures["native_max_difference"], 1e-4);
  EXPECT_LT(figures["libtorch_max_difference"], 1e-4);

  std::string weights = read_file("run/checkpoints/last/model.safetensors");
  weights[weights.size() - 2] = static_cast<char>(weights[weights.size() - 2] ^ 4);
  write_file_atomic("run/checkpoints/last/model.safetensors", weights);
  const Result corrupt = shell("yardmaster verify --checkpoint run/checkpoints/last");
  EXPECT_EQ(corrupt.code, 2);
  EXPECT_THAT(corrupt.err, HasSubstr("model.safetensors"));
  EXPECT_EQ(shell("yardmaster verify --checkpoint nowhere").code, 2);
}

TEST_F(Train, RefusesWhatItDoesNotUnderstand) {
  struct Case {
    std::string arguments, named;
  };
  const std::vector<Case> cases = {
      {"tiny.yaml --set no_such_key=1", "no_such_key"},
      {"tiny.yaml --set updates=0", "updates"},
      {"tiny.yaml --set lr=fast", "lr"},
      {"tiny.yaml --set baseline=luck", "baseline"},
      {"tiny.yaml --set trace=missing.csv", "missing.csv"},
      {"tiny.yaml --set episode_jobs=100000", "episode_jobs"},
      {"missing.yaml", "missing.yaml"},
      {"", "CONFIG.yaml"},
      {"--resume nowhere", "nowhere"},
      {"tiny.yaml --resume nowhere", "both"},
      {"tiny.yaml --bogus", "bogus"},
  };
  for (const Case& c : cases) {
    const Result result = shell("yardmaster train " + c.arguments);
    EXPECT_EQ(result.code, 2) << c.arguments << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr(c.named)) << c.arguments;
    EXPECT_EQ(result.out, "") << c.arguments;
  }
  EXPECT_FALSE(folder_.has("runs")) << "nothing half-written";
  EXPECT_EQ(folder_.leftovers(), 0);
}

// Stopped at whatever point it was, it ends with the weights of a training that was never stopped.
TEST_F(Train, GoesOnAfterCtrlCAsIfNothingHadHappened) {
  ASSERT_EQ(shell("yardmaster train tiny.yaml --set updates=20 --out whole").code, 0);
  // The signal comes once the first update has left its mark, however slow the machine.
  const Result stopped = shell(
      "yardmaster train tiny.yaml --set updates=20 --out run & pid=$!; "
      "while kill -0 $pid && [ ! -e run/checkpoints/training_state ]; do sleep 0.02; done; kill "
      "-INT $pid; wait $pid");
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("--resume run"));
  EXPECT_FALSE(folder_.has("run/checkpoints/last"));
  const Result resumed = shell("yardmaster train --resume run");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read_file("run/checkpoints/last/model.safetensors"),
            read_file("whole/checkpoints/last/model.safetensors"));
  EXPECT_EQ(read_file("run/checkpoints/last/golden.safetensors"),
            read_file("whole/checkpoints/last/golden.safetensors"));
  EXPECT_EQ(shell("yardmaster verify --checkpoint run/checkpoints/best").code, 0);
}

// What the repository ships must fit the code that it ships with.
TEST(ShippedCheckpoints, AreVerified) {
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator("checkpoints")) {
    if (!entry.is_directory()) continue;
    const Result r = shell("yardmaster verify --checkpoint " + entry.path().string());
    EXPECT_EQ(r.code, 0) << entry.path() << ": " << r.err;
    const Result played = shell(
        "yardmaster simulate --trace synthetic:habits --generate-jobs 60 "
        "--cluster 2x8 --policy checkpoint:" +
        entry.path().string());
    EXPECT_EQ(played.code, 0) << played.err;
    ++checked;
  }
  EXPECT_GT(checked, 0) << "checkpoints/ holds none";
}

}  // namespace
}  // namespace yard::testing
