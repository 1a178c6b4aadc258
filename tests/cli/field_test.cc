// Regressions which users reported: each folder of tests/data/field holds files, commands and
// expected results. Its README.md describes the format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCases = "tests/data/field";

// Returns `text` with each run of blanks as one: tables are aligned with blanks.
std::string collapse_blanks(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t';
    if (blank && out.ends_with(' ')) continue;
    out += blank ? ' ' : c;
  }
  return out;
}

std::vector<std::string> lines_of(const fs::path& file) {
  const std::string text = read_file(file);
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) {
    if (!trim(line).empty()) lines.emplace_back(trim(line));
  }
  return lines;
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kCases)) {
    if (entry.is_directory()) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

// Removes `word` and the blanks after it from the front of `text`. Returns false if `text` does not
// start with it.
bool consume_prefix(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text = trim(text.substr(word.size()));
  return true;
}

void expect(const Result& result, std::string_view line) {
  std::string_view rest = line;
  if (consume_prefix(rest, "exit ")) {
    EXPECT_EQ(result.code, parse_int(rest)) << line << "\n" << result.out << result.err;
    return;
  }
  const bool out = consume_prefix(rest, "stdout ");
  ASSERT_TRUE(out || consume_prefix(rest, "stderr ")) << "missing expectation: " << line;
  const std::string said = collapse_blanks(out ? result.out : result.err);
  if (consume_prefix(rest, "contains ")) {
    EXPECT_THAT(said, HasSubstr(collapse_blanks(rest)));
  } else if (consume_prefix(rest, "lacks ")) {
    EXPECT_THAT(said, Not(HasSubstr(collapse_blanks(rest))));
  } else if (consume_prefix(rest, "lines ")) {
    EXPECT_EQ(std::ranges::count(said, '\n'), parse_int(rest)) << line << "\n" << said;
  } else {
    FAIL() << "missing expectation: " << line;
  }
}

class UserCase : public ::testing::TestWithParam<std::string> {};

TEST_P(UserCase, PrintsTheExpectedOutput) {
  const fs::path source = fs::absolute(kCases) / GetParam();
  const std::vector<std::string> commands = lines_of(source / "cmd");
  const std::vector<std::string> expected = lines_of(source / "expected");
  ASSERT_FALSE(commands.empty());
  ASSERT_FALSE(expected.empty());
  const auto trains = [](const std::string& command) { return command.starts_with("train "); };
  if (std::ranges::any_of(commands, trains) && !trainer_built()) {
    GTEST_SKIP() << "built without LibTorch";
  }
  const Folder folder;
  fs::copy(source, folder.path(), fs::copy_options::recursive);
  std::vector<Result> results;
  for (const std::string& command : commands) {
    results.push_back(
        shell(command.starts_with('!') ? command.substr(1) : "yardmaster " + command));
  }
  size_t first = 0, last = results.size();  // the commands which an expectation applies to
  for (const std::string& line : expected) {
    std::string_view rest = line;
    if (line.starts_with('#')) continue;
    if (consume_prefix(rest, "command ")) {
      const std::optional<int64_t> number = parse_int(rest);
      ASSERT_TRUE(number && *number >= 1 && *number <= std::ssize(results)) << line;
      last = static_cast<size_t>(*number);
      first = last - 1;
      continue;
    }
    for (size_t c = first; c < last; ++c) {
      SCOPED_TRACE(commands[c]);
      expect(results[c], line);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, UserCase, ::testing::ValuesIn(case_names()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

}  // namespace
}  // namespace yard::testing
