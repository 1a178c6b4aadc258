#include "tests/mutation/tokens.h"

#include <array>
#include <cctype>

namespace yard::mutation {
namespace {

constexpr std::array<std::string_view, 24> kMarks = {
    "<<=", ">>=", "<=>", "...", "->*", "::", "->", "++", "--", "<<", ">>", "<=",
    ">=",  "==",  "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "|="};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool blank(char c) { return std::isspace(static_cast<unsigned char>(c)); }

// End of the blank, comment or preprocessor line at `at`. Returns `at` if a token begins there.
size_t skip_non_token(std::string_view source, size_t at) {
  if (blank(source[at])) return at + 1;
  if (source.substr(at, 2) == "//") return std::min(source.find('\n', at), source.size());
  if (source.substr(at, 2) == "/*") return source.find("*/", at) + 2;
  if (source[at] != '#') return at;
  size_t end = source.find('\n', at);
  while (end != std::string_view::npos && source[end - 1] == '\\') end = source.find('\n', end + 1);
  return std::min(end, source.size());
}

size_t skip_literal(std::string_view source, size_t at) {
  const char quote = source[at];
  size_t end = at + 1;
  while (source[end] != quote) end += source[end] == '\\' ? 2 : 1;
  return end + 1;
}

size_t skip_number(std::string_view source, size_t at) {
  size_t end = at;
  while (end < source.size() &&
         (in_word(source[end]) || source[end] == '.' || source[end] == '\'' ||
          ((source[end] == '-' || source[end] == '+') &&
           (source[end - 1] == 'e' || source[end - 1] == 'E')))) {
    ++end;
  }
  return end;
}

size_t skip_punctuator(std::string_view source, size_t at) {
  for (const std::string_view mark : kMarks) {
    if (source.substr(at, mark.size()) == mark) return at + mark.size();
  }
  return at + 1;
}

}  // namespace

std::vector<Token> tokens_of(std::string_view source) {
  std::vector<Token> tokens;
  int line = 1;
  for (size_t at = 0; at < source.size();) {
    size_t end = skip_non_token(source, at);
    if (end == at) {
      Token::Kind kind = Token::Kind::kMark;
      if (std::isdigit(static_cast<unsigned char>(source[at]))) {
        kind = Token::Kind::kNumber;
        end = skip_number(source, at);
      } else if (in_word(source[at])) {
        kind = Token::Kind::kWord;
        while (end < source.size() && in_word(source[end])) ++end;
      } else if (source[at] == '"' || source[at] == '\'') {
        kind = Token::Kind::kText;
        end = skip_literal(source, at);
      } else {
        end = skip_punctuator(source, at);
      }
      const bool spaced =
          at > 0 && blank(source[at - 1]) && end < source.size() && blank(source[end]);
      tokens.push_back({kind, source.substr(at, end - at), at, line, spaced});
    }
    for (; at < end; ++at) line += source[at] == '\n';
  }
  return tokens;
}

std::vector<size_t> partners_of(const std::vector<Token>& tokens) {
  std::vector<size_t> partner(tokens.size()), open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    partner[i] = i;
    const std::string_view text = tokens[i].text;
    if (text == "(" || text == "[" || text == "{") open.push_back(i);
    if ((text == ")" || text == "]" || text == "}") && !open.empty()) {
      partner[i] = open.back();
      partner[open.back()] = i;
      open.pop_back();
    }
  }
  return partner;
}

}  // namespace yard::mutation
