// The mutator finds the mutable operators in function bodies and nothing else. A planted source
// behaves as written until a mutation is chosen: the tests run once in that form.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/mutation/points.h"
#include "tests/mutation/tokens.h"

namespace yard::mutation {
namespace {

std::string planted(const std::string& source, int first_id) {
  std::vector<Numbered> numbered;
  for (const Point& p : points_of(source)) numbered.push_back({first_id++, p});
  return plant(source, numbered);
}

// Returns "was -> now" for each mutation point in a function with this body.
std::vector<std::string> mutations_of(const std::string& body) {
  std::vector<std::string> out;
  for (const Point& p : points_of("void f() {\n" + body + "\n}\n")) {
    EXPECT_GE(p.line, 2);
    out.push_back(p.was + " -> " + p.now);
  }
  std::sort(out.begin(), out.end());
  return out;
}

using Lies = std::vector<std::string>;

TEST(Mutator, NegatesAndShiftsComparisons) {
  EXPECT_EQ(mutations_of("while (a < b) {\n  return;\n}"),
            (Lies{"return; -> (nothing)", "while (a < b) { -> while (a <= b) {",
                  "while (a < b) { -> while (a >= b) {"}));
}

TEST(Mutator, SkipsTheBoundaryOfAnExtreme) {
  EXPECT_EQ(mutations_of("return a.b < c ? a.b : c;").size(), 1u) << "negated, not shifted";
  EXPECT_EQ(mutations_of("return a.b < c ? c : d;").size(), 2u);
  EXPECT_EQ(mutations_of("if (a > b[i]) b[i] = a;").size(), 2u)
      << "negated, and the statement removed";
  EXPECT_EQ(mutations_of("if (a > b) b = c;").size(), 3u);
}

TEST(Mutator, RemovesStatementsButNoDeclarations) {
  EXPECT_EQ(mutations_of("x = y;"), Lies{"x = y; -> (nothing)"});
  EXPECT_EQ(mutations_of("++s.head->live;"), Lies{"++s.head->live; -> (nothing)"});
  EXPECT_EQ(mutations_of("(a ? b : c)[k] = y;"),
            (Lies{"(a ? b : c)[k] = y; -> (nothing)", "a -> !(a)"}));
  EXPECT_EQ(mutations_of("const int y = x;"), Lies{});
  EXPECT_EQ(mutations_of("int32_t y = x;"), Lies{});
  EXPECT_EQ(mutations_of("Head& h = *s.head;"), Lies{});
  EXPECT_EQ(mutations_of("Ledger ledger(a, b);"), Lies{});
  EXPECT_EQ(mutations_of("return x;"), Lies{});
}

TEST(Mutator, MakesOperandsTrueOrFalse) {
  EXPECT_EQ(mutations_of("return a && b(c) && d;"),
            (Lies{"a -> true", "b(c) -> true", "d -> true"}));
  EXPECT_EQ(mutations_of("return a || b && c;"),
            (Lies{"a -> false", "b && c -> false", "b -> true", "c -> true"}));
}

TEST(Mutator, NegatesConditionsWithoutComparison) {
  EXPECT_EQ(mutations_of("if (a.empty()) return;"),
            (Lies{"a.empty() -> !(a.empty())", "return; -> (nothing)"}));
  EXPECT_EQ(mutations_of("if (T* x = a) return;"), Lies{"return; -> (nothing)"});
}

TEST(Mutator, ChangesNumbersAndExtremes) {
  EXPECT_EQ(mutations_of("return f(x, 0);"), Lies{", 0 -> , 1"});
  EXPECT_EQ(mutations_of("int x = 2;"), Lies{"= 2 -> = 3"});
  EXPECT_EQ(mutations_of("int x = 1;"), Lies{"= 1 -> = 0"});
  EXPECT_EQ(mutations_of("return std::max(a, b);"), Lies{"std::max -> std::min"});
  EXPECT_EQ(mutations_of("return X{1, 2};").size(), 1u) << "the first could be narrowed";
}

TEST(Mutator, SkipsConstantsMessagesAndTypes) {
  EXPECT_EQ(mutations_of("constexpr int kA = 1 + 2;"), Lies{});
  EXPECT_EQ(mutations_of("static_assert(a < b);"), Lies{});
  EXPECT_EQ(mutations_of("YARD_CHECK(a < b);"), Lies{});
  EXPECT_EQ(mutations_of("throw E(a + b);"), Lies{});
  EXPECT_EQ(mutations_of("return \"a\" + b;"), Lies{});
  EXPECT_EQ(mutations_of("std::vector<int> x;  // a < b"), Lies{});
  EXPECT_TRUE(points_of("constexpr int a = 1 + 2;\nstruct S {\n  int x = 1 + 2;\n};\n").empty());
  EXPECT_TRUE(points_of("#define A(x) \\\n  { x = 1 + 2; }\n").empty());
}

TEST(Mutator, NumbersMutationsAndKeepsLines) {
  const std::string source = "void f() {\n  x = a +\n      b;\n}\n";
  EXPECT_EQ(
      planted(source, 7),
      "void f() {\n"
      "  { if (!::yard::mutation::is(7)) { x = a + ::yard::mutation::Operator<8, std::plus<>, "
      "std::minus<>>{} +\n"
      "      b; } }\n}\n");
}

TEST(Mutator, NestsMutationsAtOnePlace) {
  const std::string text = planted("void f() {\n  if (a && b) x = 0;\n}\n", 1);
  EXPECT_EQ(std::count(text.begin(), text.end(), '('), std::count(text.begin(), text.end(), ')'));
  EXPECT_NE(text.find("if ((::yard::mutation::is("), std::string::npos) << text;
}

TEST(Tokens, IncludeTextsNumbersAndLines) {
  const std::string source = "a = \"x;\\\"\" + 'b' /* c */\n  - 1e-6;  // d\n#if 0\ne";
  std::string words;
  for (const Token& token : tokens_of(source)) {
    words += std::to_string(token.line) + ":" + std::string(token.text) + " ";
  }
  EXPECT_EQ(words, "1:a 1:= 1:\"x;\\\"\" 1:+ 1:'b' 2:- 2:1e-6 2:; 4:e ");
}

}  // namespace
}  // namespace yard::mutation
