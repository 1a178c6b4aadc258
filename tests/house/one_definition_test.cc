// Each type name is defined once. Two types of one name in a namespace violate the one-definition
// rule: templates for one act on objects of the other. Linkers do not report it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/house/source_tree.h"

namespace yard::testing {
namespace {

// Words and single marks, with "::" as one; no comments, string literals or preprocessor lines.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> out;
  bool line_begins = true;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto skip_past = [&](std::string_view end, size_t from) {
      const size_t at = text.find(end, from);
      i = at == std::string_view::npos ? text.size() : at + end.size();
    };
    if (c == '\n') {
      line_begins = true, ++i;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
    } else if (c == '#' && line_begins) {
      do {
        skip_past("\n", i);
      } while (i >= 2 && i < text.size() && text[i - 2] == '\\');
    } else if (text.substr(i, 2) == "//") {
      skip_past("\n", i);
      line_begins = true;
    } else if (text.substr(i, 2) == "/*") {
      skip_past("*/", i);
    } else if (text.substr(i, 2) == "R\"") {
      const size_t open = text.find('(', i);
      skip_past(")" + std::string(text.substr(i + 2, open - i - 2)) + "\"", open);
    } else if (c == '"' || c == '\'') {
      for (++i; i < text.size() && text[i] != c; ++i) i += text[i] == '\\';
      ++i;
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      const size_t from = i;
      const auto in_word = [&](char x) {  // 1'000 is one word
        return std::isalnum(static_cast<unsigned char>(x)) || x == '_' ||
               (x == '\'' && std::isdigit(static_cast<unsigned char>(text[from])));
      };
      while (i < text.size() && in_word(text[i])) ++i;
      out.emplace_back(text.substr(from, i - from));
      line_begins = false;
    } else {
      const size_t length = text.substr(i, 2) == "::" ? 2 : 1;
      out.emplace_back(text.substr(i, length));
      i += length;
      line_begins = false;
    }
  }
  return out;
}

bool is_word(const std::string& token) {
  return std::isalpha(static_cast<unsigned char>(token[0])) || token[0] == '_';
}

// Returns "yard::Choice" for every type that other files can see: in named namespaces.
std::set<std::string> types_of(std::string_view text) {
  const std::vector<std::string> t = tokens_of(text);
  std::set<std::string> out;
  struct Scope {
    bool is_namespace;
    std::string name;
  };
  std::vector<Scope> scopes;
  for (size_t i = 0; i < t.size(); ++i) {
    if (t[i] == "namespace") {
      std::string name;
      size_t j = i + 1;
      for (; j < t.size() && (is_word(t[j]) || t[j] == "::"); ++j) name += t[j];
      if (j < t.size() && t[j] == "{") {
        scopes.push_back({true, name});
        i = j;
      }
    } else if (t[i] == "{") {
      scopes.push_back({false, ""});
    } else if (t[i] == "}") {
      if (!scopes.empty()) scopes.pop_back();
    } else if (t[i] == "struct" || t[i] == "class" || t[i] == "union" || t[i] == "enum") {
      const bool seen = !scopes.empty() && std::all_of(scopes.begin(), scopes.end(), [](auto& s) {
        return s.is_namespace && !s.name.empty();
      });
      if (!seen) continue;
      size_t j = i + 1;
      if (j < t.size() && (t[j] == "class" || t[j] == "struct")) ++j;  // enum class
      if (j + 1 < t.size() && t[j] == "alignas") {
        while (j < t.size() && t[j] != ")") ++j;
        ++j;
      }
      if (j + 1 >= t.size() || !is_word(t[j])) continue;
      std::string name;
      for (const Scope& scope : scopes) name += scope.name + "::";
      const std::string& next = t[j + 1];
      if (next == "{" || next == ":" || next == "final") out.insert(name + t[j]);
      i = j;
    }
  }
  return out;
}

TEST(OneDefinition, TypeNamesAreUnique) {
  std::map<std::string, std::vector<std::string>> files;
  for (const auto& [path, file] : read_source_tree(".")) {
    for (const std::string& type : types_of(read_file(path))) files[type].push_back(path);
  }
  EXPECT_GT(files.size(), 400u);
  EXPECT_TRUE(files.contains("yard::View") && files.contains("yard::Trainer"));
  for (const auto& [type, where] : files) {
    EXPECT_EQ(where.size(), 1u) << type << " in " << join(where);
  }
}

TEST(OneDefinition, FindsVisibleTypes) {
  EXPECT_EQ(types_of(R"(
      #define NOT struct Macro {};
      // struct Comment {};
      const char* kText = "struct Text {";
      namespace a::b {
      namespace { struct Hidden {}; }
      struct Told;
      template <class T> struct Kept final : Base<T> { struct Inner {}; };
      enum class Colour : int { kRed };
      void f(struct Told* t) { struct Local {}; }
      struct Kept::Part {};
      template <> struct Kept<int> {};
      class Own { int n = 1'000; char c = '{'; };
      }
      struct Global {};)"),
            (std::set<std::string>{"a::b::Colour", "a::b::Kept", "a::b::Own"}));
}

}  // namespace
}  // namespace yard::testing
