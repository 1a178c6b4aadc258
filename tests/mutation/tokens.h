// A C++ source file as tokens: enough to find where a rule can be changed. Comments and
// preprocessor lines are passed over.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace yard::mutation {

struct Token {
  enum class Kind { kWord, kNumber, kText, kMark };
  Kind kind;
  std::string_view text;
  size_t at;   // where it begins in the file
  int line;    // from 1
  bool apart;  // blank before and after it: what clang-format does to an operator of two operands
  size_t end() const { return at + text.size(); }
};

// Requires: `source` outlives the tokens.
std::vector<Token> tokens_of(std::string_view source);

// What stands between brackets. Returns, for each bracket token, the index of its partner; for
// others their own index. Requires: brackets match.
std::vector<size_t> partners_of(const std::vector<Token>& tokens);

}  // namespace yard::mutation
