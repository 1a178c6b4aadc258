#include "env/base/core/check.h"

#include <gtest/gtest.h>

#include <string>

namespace yard {
namespace {

TEST(CheckDeathTest, FailedCheckPrintsPlaceAndMessageAndAborts) {
  const int gpus = -1;
  EXPECT_DEATH(YARD_CHECK(gpus >= 0, "GPUs are counted"),
               "check_test.cc:[0-9]+: GPUs are counted: check failed: gpus >= 0");
  EXPECT_DEATH(YARD_CHECK(gpus >= 0, "got " + std::to_string(gpus)), "got -1: check failed");
}

TEST(Check, PassedCheckEvaluatesOnlyItsConditionOnce) {
  int conditions = 0, messages = 0;
  const auto message = [&] { return std::to_string(++messages); };
  YARD_CHECK(++conditions == 1, message());
  EXPECT_EQ(conditions, 1);
  EXPECT_EQ(messages, 0);
}

}  // namespace
}  // namespace yard
