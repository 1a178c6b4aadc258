// Identifiers use the terms of the field: tests/house/retired_words.txt lists the words which do
// not come back.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/files/file.h"
#include "env/base/text/text.h"

namespace yard::testing {
namespace {

// Returns the words of a list with their replacements.
std::map<std::string, std::string> retired_words(const std::string& file) {
  std::map<std::string, std::string> out;
  const std::string list = read_file(file);
  for (const std::string_view line : split(list, '\n')) {
    const size_t space = line.find(' ');
    if (line.empty() || line.front() == '#' || space == line.npos) continue;
    out.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return out;
}

// Returns the identifiers in C++ code, without those in comments and literals.
std::set<std::string> identifiers(std::string_view code) {
  std::set<std::string> out;
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (size_t i = 0; i < code.size();) {
    const char c = code[i];
    if (c == '/' && code.substr(i).starts_with("//")) {
      i = std::min(code.find('\n', i), code.size());
    } else if (c == '/' && code.substr(i).starts_with("/*")) {
      i = std::min(code.find("*/", i), code.size() - 2) + 2;
    } else if (c == '"' && i > 0 && code[i - 1] == 'R') {
      const size_t open = code.find('(', i);
      const std::string close = ")" + std::string(code.substr(i + 1, open - i - 1)) + "\"";
      i = std::min(code.find(close, open), code.size() - close.size()) + close.size();
    } else if (c == '"' || (c == '\'' && (i == 0 || !is_word(code[i - 1])))) {
      for (++i; i < code.size() && code[i] != c && code[i] != '\n'; ++i) i += code[i] == '\\';
      ++i;
    } else if (is_word(c)) {
      const size_t begin = i;
      while (i < code.size() && is_word(code[i])) ++i;
      out.emplace(code.substr(begin, i - begin));
    } else {
      ++i;
    }
  }
  return out;
}

// Returns the retired words in a text for readers: a page, a comment, a help text. Quoted words are
// names of values.
std::vector<std::string> retired_in_prose(std::string_view text) {
  static const std::map<std::string, std::string> retired =
      retired_words("tests/house/retired_prose.txt");
  std::vector<std::string> out;
  std::string word;
  char before = ' ';  // the word
  for (const char c : std::string(text) + ' ') {
    if (std::isalpha(static_cast<unsigned char>(c))) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    const bool quoted = c == before && (c == '"' || c == '\'' || c == '`');
    const auto found = retired.find(word);
    if (found != retired.end() && !quoted) out.push_back(word + ": write " + found->second);
    word.clear();
    before = c;
  }
  return out;
}

// Returns the comments of C++ code, and its literals with more than one word.
std::string prose_of(std::string_view code) {
  std::string out;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code.substr(i).starts_with("//")) {
      const size_t end = std::min(code.find('\n', i), code.size());
      out.append(code.substr(i + 2, end - i - 2)) += '\n';
      i = end;
    } else if (code[i] == '"' && (i == 0 || code[i - 1] != '\'')) {
      const size_t begin = ++i;
      while (i < code.size() && code[i] != '"' && code[i] != '\n') i += code[i] == '\\' ? 2 : 1;
      const std::string_view text = code.substr(begin, std::min(i, code.size()) - begin);
      if (text.find(' ') != text.npos) out.append(text) += '\n';
    }
  }
  return out;
}

// Returns a page without its blocks of code and output.
std::string without_blocks(const std::string& page) {
  std::string out;
  bool in_block = false;
  for (const std::string_view line : split(page, '\n')) {
    const bool fence = line.starts_with("```");
    if (!fence && !in_block) out.append(line) += '\n';
    in_block = in_block != fence;
  }
  return out;
}

// Splits an identifier at underscores and before capitals, in lower case: "kMaxRows" -> k, max,
// rows.
std::vector<std::string> words_of(const std::string& identifier) {
  std::vector<std::string> out(1);
  for (size_t i = 0; i < identifier.size(); ++i) {
    const auto c = static_cast<unsigned char>(identifier[i]);
    const bool begins =
        std::isupper(c) && i > 0 && !std::isupper(static_cast<unsigned char>(identifier[i - 1]));
    if (c == '_' || begins) out.emplace_back();
    if (c != '_') out.back() += static_cast<char>(std::tolower(c));
  }
  return out;
}

std::vector<std::string> retired_in(std::string_view code) {
  static const std::map<std::string, std::string> retired =
      retired_words("tests/house/retired_words.txt");
  std::vector<std::string> out;
  for (const std::string& identifier : identifiers(code)) {
    for (const std::string& word : words_of(identifier)) {
      const auto found = retired.find(word);
      if (found != retired.end()) out.push_back(identifier + ": write " + found->second);
    }
  }
  return out;
}

TEST(RetiredWords, AreNotInLibraryIdentifiers) {
  namespace fs = std::filesystem;
  for (const char* top : {"env", "policies", "agents", "serving", "experiments"}) {
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc" && extension != ".cu") continue;
      for (const std::string& found : retired_in(read_file(entry.path()))) {
        ADD_FAILURE() << entry.path().string() << ": " << found;
      }
    }
  }
}

// Single-word literals are names of values, such as a file's `nobody`.
TEST(RetiredWords, AreNotInTextsForReaders) {
  namespace fs = std::filesystem;
  for (const char* top :
       {"env", "policies", "agents", "serving", "experiments", "include", "docs", "scripts"}) {
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      const std::string extension = entry.path().extension();
      const bool code = extension == ".h" || extension == ".cc" || extension == ".cu";
      const bool page = extension == ".md" || extension == ".sh" || extension == ".py" ||
                        extension == ".yaml" || extension == ".proto" || extension == ".cmake";
      if (!code && !page) continue;
      std::string text = read_file(entry.path());
      if (extension == ".proto") text = prose_of(text);
      for (const std::string& found :
           retired_in_prose(code ? prose_of(text) : without_blocks(text))) {
        ADD_FAILURE() << entry.path().string() << ": " << found;
      }
    }
  }
  // The change log names retired keys as such.
  for (const char* file : {"README.md", "CONTRIBUTING.md", "CMakeLists.txt", "Makefile",
                           "checkpoints/README.md", "evaluations/notes.md"}) {
    for (const std::string& found : retired_in_prose(without_blocks(read_file(file)))) {
      ADD_FAILURE() << file << ": " << found;
    }
  }
}

TEST(RetiredWords, AreFoundInProse) {
  EXPECT_EQ(retired_in_prose("Nobody was told.").size(), 2u);
  EXPECT_TRUE(retired_in_prose(prose_of("f(\"nobody\", told);  // the owner")).empty());
  EXPECT_EQ(retired_in_prose(prose_of("f(\"stops nobody\");  // to whom")).size(), 2u);
}

TEST(RetiredWords, AreFoundInCodeOnly) {
  EXPECT_EQ(retired_in("int tell_all = 0;").size(), 1u);
  EXPECT_EQ(retired_in("class NodeTenancy;").size(), 1u);
  EXPECT_EQ(retired_in("kStandingMax").size(), 1u);
  EXPECT_TRUE(retired_in("// whom to tell\nint intelligent, belief; /* foretell */").empty());
  EXPECT_TRUE(
      retired_in("const char* text = \"carver\\\" pacing\"; char c = '\"'; f(R\"x(carver)x\");")
          .empty());
  EXPECT_TRUE(retired_in("1'000'000 + 'a'").empty());
}

}  // namespace
}  // namespace yard::testing
