#include "env/base/text/nearest_name.h"

#include <gtest/gtest.h>

namespace yard {
namespace {

const std::vector<std::string> kNames = {"fifo", "las", "greedy", "srsf-history", "policies"};

TEST(Nearest, FindsTheNameBehindATypo) {
  EXPECT_EQ(nearest_name("gredy", kNames), "greedy");
  EXPECT_EQ(nearest_name("FIFO", kNames), "fifo");
  EXPECT_EQ(nearest_name("srsf_histroy", kNames), "srsf-history");
  EXPECT_EQ(nearest_name("lsa", kNames), "las") << "two letters swapped";
  EXPECT_EQ(nearest_name("fiof", kNames), "fifo");
  EXPECT_EQ(nearest_name("lxx", kNames), std::nullopt) << "two of three letters are wrong";
  EXPECT_EQ(nearest_name("policy", kNames), "policies");
}

TEST(Nearest, PrefersTheNearestName) {
  EXPECT_EQ(nearest_name("tirasias", {"tiresias-gittins", "tiresias", "tiresia"}), "tiresias");
}

TEST(Nearest, DoesNotSuggestDistantNames) {
  for (const char* typed : {"", "backfill", "-", "x"}) {
    EXPECT_EQ(nearest_name(typed, kNames), std::nullopt) << typed;
    EXPECT_EQ(did_you_mean(typed, kNames), "") << typed;
  }
  for (const char* typed : {"", "a", "job"}) {
    EXPECT_EQ(nearest_name(typed, {"", "--", "x", "xv"}), std::nullopt)
        << "a column without a name";
  }
}

TEST(Nearest, SuggestionIsPartOfTheMessage) {
  EXPECT_STREQ(unknown_name("--policy", {"fifo", "las"}, "fifi").what(),
               "--policy: expected one of: fifo, las, got 'fifi'; did you mean `fifo`?");
  EXPECT_STREQ(unknown_name("--policy", {"fifo", "las"}, "x").what(),
               "--policy: expected one of: fifo, las, got 'x'");
}

}  // namespace
}  // namespace yard
