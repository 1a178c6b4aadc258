// A C++ source file as tokens, sufficient to find mutation points. Comments and preprocessor lines
// are skipped.
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
  size_t at;    // offset in the file
  int line;     // from 1
  bool spaced;  // blanks on both sides: clang-format's binary operators
  size_t end() const { return at + text.size(); }
};

// Requires: `source` outlives the tokens.
std::vector<Token> tokens_of(std::string_view source);

// Returns the index of the matching bracket for each bracket token, and its own index for every
// other token. Requires: brackets match.
std::vector<size_t> partners_of(const std::vector<Token>& tokens);

}  // namespace yard::mutation
