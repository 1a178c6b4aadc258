// Code in the documents compiles exactly as printed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "env/base/files/file.h"

namespace yard::testing {
namespace {

// Returns the first C++ block after `heading` in a document.
std::string snippet(const std::string& document, const std::string& heading) {
  const std::string text = read_file(document), open = "```cpp\n";
  const size_t at = text.find(open, text.find(heading));
  if (at == text.npos) return "";
  const size_t begin = at + open.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST(Docs, ExamplePolicyCompiles) {
  const std::string code = snippet("docs/tutorials/first-policy.md", "## 1. The class");
  ASSERT_NE(code.find("PolicyRegistry::Add<"), code.npos);
  EXPECT_LE(std::ranges::count(code, '\n'), 15) << "the example is short";
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("yard-docs-" + std::to_string(getpid()) + ".cc");
  write_file_atomic(path, code);
  const std::string command = std::string(YARD_CXX) +
                              " -std=c++20 -fsyntax-only -Wall -Wextra -Wconversion -Werror -I. '" +
                              path.string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << code;
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace yard::testing
