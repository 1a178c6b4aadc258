// What earlier releases wrote can still be read. Each wrote its folder in tests/data with
// scripts/make_compat_data.sh.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "env/base/core/version.h"
#include "env/base/files/file.h"
#include "include/yardmaster_env.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr const char* kReleases[] = {"v0.2.0"};

bool built(const std::string& program) { return shell("command -v " + program).code == 0; }

class Compatibility : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs::exists(data_ / "version"))
        << data_ << " is missing: make it with that release and scripts/make_compat_data.sh";
  }

  // Runs yardmaster in an empty folder. Expects success.
  static std::string run(const std::string& arguments) {
    const Result result = shell("yardmaster " + arguments);
    EXPECT_EQ(result.code, 0) << arguments << ": " << result.err;
    return result.out;
  }
  static Json run_json(const std::string& arguments) {
    const Json json = Json::parse(run(arguments + " --json"), nullptr, false);
    EXPECT_TRUE(json.is_object()) << arguments;
    return json;
  }
  std::string data(const std::string& name) const { return "'" + (data_ / name).string() + "'"; }
  std::string release_version() const { return std::string(GetParam()).substr(1); }

  const fs::path data_ = fs::current_path() / "tests/data" / GetParam();
  const Folder folder_;
};

TEST_P(Compatibility, FilesNameTheRelease) {
  EXPECT_EQ(read_file(data_ / "version"), release_version() + "\n");
  const Json run_record = Json::parse(read_file(data_ / "run/run.json"));
  EXPECT_EQ(run_record.at("yardmaster").at("release"), release_version());
  const Json manifest = Json::parse(read_file(data_ / "run/checkpoints/best/manifest.json"));
  EXPECT_EQ(manifest.at("written_by"), "yardmaster " + release_version());
}

TEST_P(Compatibility, CheckpointsDecide) {
  for (const char* checkpoint : {"checkpoint", "run/checkpoints/best"}) {
    const Json out = run_json(
        "simulate --trace synthetic:habits --generate-jobs 200 --cluster 2x8 --policy "
        "checkpoint:" +
        data(checkpoint));
    EXPECT_FALSE(out.empty()) << checkpoint;
    if (!trainer_built()) continue;
    EXPECT_EQ(run_json("verify --checkpoint " + data(checkpoint)).value("ok", false), true)
        << checkpoint;
  }
}

TEST_P(Compatibility, RunIsReportedAndResumed) {
  fs::copy(data_ / "run", "run", fs::copy_options::recursive);
  run("report run");
  EXPECT_TRUE(folder_.has("run/report.html"));
  if (!trainer_built()) GTEST_SKIP() << "built without LibTorch";
  run("train --resume run");
  EXPECT_EQ(Json::parse(read_file("run/run.json")).at("state"), "done");
  const Json manifest = Json::parse(read_file("run/checkpoints/last/manifest.json"));
  EXPECT_EQ(manifest.at("provenance").at("updates"), 3);
}

// Decisions may differ: later releases may improve a policy.
TEST_P(Compatibility, DecisionLogIsDescribedAndReplayed) {
  if (!built("yardmaster-serve")) GTEST_SKIP() << "built without gRPC";
  const Json description = run_json("log describe " + data("log"));
  EXPECT_EQ(description.at("decisions"), 3);
  EXPECT_EQ(description.at("damage").at("damaged"), 0);
  EXPECT_EQ(description.at("damage").at("unknown"), 0);
  const Json replayed = run_json("log replay --json --policy las " + data("log") + " || true");
  EXPECT_EQ(replayed.at("decisions"), 3);
  EXPECT_EQ(replayed.at("failed"), 0);
}

// Without a server the client's own heuristic answers.
TEST_P(Compatibility, SnapshotIsAnswered) {
  if (!built("yardmaster-serve")) GTEST_SKIP() << "built without gRPC";
  const Json answer = run_json("decide --server 127.0.0.1:1 --snapshot " + data("snapshot.json"));
  EXPECT_EQ(answer.at("source"), "CLIENT_HEURISTIC");
}

// Programs linked with the library of that release start with the one of this build. A new number,
// which an incompatible change needs, ends that: then remove the folder's file `abi`.
TEST_P(Compatibility, CInterfaceHasTheSameNumber) {
  if (!fs::exists(data_ / "abi")) GTEST_SKIP() << "an older interface";
  const int32_t abi = std::stoi(read_file(data_ / "abi"));
  EXPECT_EQ(abi, YARDMASTER_ENV_ABI);
  const char* bin = std::getenv("YARD_BIN");
  ASSERT_NE(bin, nullptr);
  const fs::path library =
      fs::path(bin).parent_path() / "lib" / ("libyardmaster_env.so." + std::to_string(abi));
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(loaded, nullptr) << dlerror();
  using AbiFunction = int32_t (*)();
  const auto number = reinterpret_cast<AbiFunction>(dlsym(loaded, "yardmaster_env_abi"));
  ASSERT_NE(number, nullptr);
  EXPECT_EQ(number(), abi);
}

INSTANTIATE_TEST_SUITE_P(Releases, Compatibility, ::testing::ValuesIn(kReleases),
                         [](const auto& release) {
                           std::string name = release.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(Version, EveryProgramPrintsIt) {
  const std::string expected = "yardmaster " + std::string(release_version()) + " (commit ";
  for (const std::string program : {"yardmaster", "yardmaster-sim", "yardmaster-bench",
                                    "yardmaster-train", "yardmaster-serve"}) {
    if (!built(program)) continue;
    const Result result = shell(program + " --version");
    EXPECT_EQ(result.code, 0) << program << ": " << result.err;
    EXPECT_THAT(result.out, StartsWith(expected)) << program;
  }
}

}  // namespace
}  // namespace yard::testing
