#include "env/base/core/error.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace yard {
namespace {

TEST(Error, InputErrorStatesPlaceExpectedAndActual) {
  EXPECT_STREQ(InputError("a.csv:3", "a number", "'x'").what(),
               "a.csv:3: expected a number, got 'x'");
  EXPECT_STREQ(InputError("ready text").what(), "ready text");
}

TEST(Error, InputErrorAndRunErrorAreUnrelated) {
  EXPECT_FALSE((std::is_base_of_v<RunError, InputError>));
  EXPECT_FALSE((std::is_base_of_v<InputError, RunError>));
}

}  // namespace
}  // namespace yard
