// Every checkpoint in checkpoints/ loads, computes what LibTorch and ONNX Runtime compute, and
// decides.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/cli/program.h"

namespace yard::testing {
namespace {

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
