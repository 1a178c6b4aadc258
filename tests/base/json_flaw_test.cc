// Messages of a JSON library, without its own prefix.
#include "env/base/text/json_flaw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

namespace yard {
namespace {

using nlohmann::json;

std::string flaw(const std::function<void()>& reads) {
  try {
    reads();
  } catch (const std::exception& error) {
    return json_error_text(error);
  }
  return "";
}

TEST(JsonFlaw, OmitsTheLibrarysErrorPrefix) {
  const json object = {{"a", 1}};
  EXPECT_THAT(flaw([&] { object.at("b"); }), ::testing::StartsWith("key 'b' not found"));
  EXPECT_THAT(flaw([&] { object.at("a").get<std::string>(); }),
              ::testing::StartsWith("type must be string"));
  EXPECT_THAT(flaw([&] { std::ignore = json::parse("{"); }),
              ::testing::StartsWith("parse error at line"));
  EXPECT_EQ(flaw([] { throw std::runtime_error("[a] b"); }), "[a] b");
}

}  // namespace
}  // namespace yard
