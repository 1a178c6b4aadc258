#include "env/base/text/csv.h"

#include <gtest/gtest.h>

namespace yard {
namespace {

std::string cell(std::string_view text) {
  std::string out;
  append_csv_cell(text, out);
  return out;
}

TEST(Csv, QuotesOnlyCellsThatNeedIt) {
  EXPECT_EQ(cell("a-1 b;c"), "a-1 b;c");
  EXPECT_EQ(cell(""), "");
  EXPECT_EQ(cell("a,b"), "\"a,b\"");
  EXPECT_EQ(cell("a\nb"), "\"a\nb\"");
  EXPECT_EQ(cell("a\rb"), "\"a\rb\"");
  EXPECT_EQ(cell("say \"a\""), "\"say \"\"a\"\"\"");
}

}  // namespace
}  // namespace yard
