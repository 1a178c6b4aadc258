#include "tests/mutation/points.h"

#include <algorithm>
#include <array>

#include "tests/mutation/tokens.h"

namespace yard::mutation {
namespace {

struct Swap {
  std::string_view was, now, was_type, now_type;
};

// Relations are negated, and their bounds moved by one.
constexpr std::array<Swap, 25> kSwaps = {{
    {"<", "<=", "std::less<>", "std::less_equal<>"},
    {"<", ">=", "std::less<>", "std::greater_equal<>"},
    {"<=", "<", "std::less_equal<>", "std::less<>"},
    {"<=", ">", "std::less_equal<>", "std::greater<>"},
    {">", ">=", "std::greater<>", "std::greater_equal<>"},
    {">", "<=", "std::greater<>", "std::less_equal<>"},
    {">=", ">", "std::greater_equal<>", "std::greater<>"},
    {">=", "<", "std::greater_equal<>", "std::less<>"},
    {"==", "!=", "std::equal_to<>", "std::not_equal_to<>"},
    {"!=", "==", "std::not_equal_to<>", "std::equal_to<>"},
    {"+", "-", "std::plus<>", "std::minus<>"},
    {"-", "+", "std::minus<>", "std::plus<>"},
    {"*", "/", "std::multiplies<>", "std::divides<>"},
    {"/", "*", "std::divides<>", "std::multiplies<>"},
    {"%", "/", "std::modulus<>", "std::divides<>"},
    {"&", "|", "std::bit_and<>", "std::bit_or<>"},
    {"|", "&", "std::bit_or<>", "std::bit_and<>"},
    {"<<", ">>", "::yard::mutation::ShiftLeft", "::yard::mutation::ShiftRight"},
    {">>", "<<", "::yard::mutation::ShiftRight", "::yard::mutation::ShiftLeft"},
    {"+=", "-=", "std::plus<>", "std::minus<>"},
    {"-=", "+=", "std::minus<>", "std::plus<>"},
    {"*=", "/=", "std::multiplies<>", "std::divides<>"},
    {"/=", "*=", "std::divides<>", "std::multiplies<>"},
    {"&=", "|=", "std::bit_and<>", "std::bit_or<>"},
    {"|=", "&=", "std::bit_or<>", "std::bit_and<>"},
}};

bool any_of(std::string_view text, std::initializer_list<std::string_view> of) {
  return std::find(of.begin(), of.end(), text) != of.end();
}

// Walks the tokens of one file and keeps track of the context.
class Finder {
 public:
  explicit Finder(std::string_view source)
      : source_(source), tokens_(tokens_of(source)), partner_(partners_of(tokens_)) {}

  std::vector<Point> find() {
    mark_bodies();
    for (size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (begins_statement(i)) open_ = !is_excluded(i);
      if (!in_body_[i] || !open_) continue;
      if (begins_statement(i)) dropped_statement(i);
      swapped_operator(i);
      operand_of_logic(i);
      negated_condition(i);
      changed_number(i);
      swapped_extreme(i);
    }
    return std::move(points_);
  }

 private:
  std::string_view text(size_t i) const { return i < tokens_.size() ? tokens_[i].text : ""; }
  bool is(size_t i, std::initializer_list<std::string_view> of) const {
    return any_of(text(i), of);
  }
  bool opens(size_t i) const { return is(i, {"(", "[", "{"}); }
  bool closes(size_t i) const { return is(i, {")", "]", "}"}); }

  // A body is the text in braces after a head, with all that it contains. Braces after a name, an
  // operator or "return" initialise values.
  void mark_bodies() {
    in_body_.assign(tokens_.size(), 0);
    body_brace_.assign(tokens_.size(), 0);
    for (size_t i = 1; i < tokens_.size(); ++i) {
      if (text(i) != "{") continue;
      const bool body =
          is(i - 1, {")", "]", "const", "override", "else", "do", "noexcept", "mutable"}) ||
          (in_body_[i] && is(i - 1, {";", "{", "}", ":"}));
      // A trailing return type and a constructor's last initialiser end in words or brackets.
      if (!body) continue;
      body_brace_[i] = body_brace_[partner_[i]] = 1;
      std::fill(in_body_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                in_body_.begin() + static_cast<std::ptrdiff_t>(partner_[i]), 1);
    }
  }

  bool ends_head(size_t i) const {  // the ")" of "if (...)" and similar
    if (text(i) != ")") return false;
    const size_t open = partner_[i];
    return open > 0 && is(open - 1, {"if", "for", "while", "switch", "constexpr"});
  }

  bool begins_statement(size_t i) const {
    if (!in_body_[i] || i == 0) return false;
    if (text(i - 1) == ";") return !in_head(i);
    if (is(i - 1, {"{", "}"})) return body_brace_[i - 1] != 0;
    if (text(i - 1) == ":") return is_label(i - 1);
    return text(i - 1) == "else" || ends_head(i - 1);
  }

  bool in_head(size_t i) const {  // between the brackets of "for (...)"
    for (size_t k = i; k-- > 0;) {
      if (closes(k)) {
        k = partner_[k];
      } else if (opens(k)) {
        return text(k) == "(";
      }
    }
    return false;
  }

  bool is_label(size_t colon) const {
    for (size_t k = colon; k-- > 0 && !is(k, {";", "{", "}", "?"});) {
      if (is(k, {"case", "default"})) return true;
    }
    return false;
  }

  size_t end_of_statement(size_t i) const {  // its ";", or npos for a block
    for (; i < tokens_.size(); ++i) {
      if (text(i) == ";") return i;
      if (closes(i)) return std::string::npos;
      if (opens(i)) i = partner_[i];
    }
    return std::string::npos;
  }

  // Constants, assertions and messages are not mutated.
  bool is_excluded(size_t i) const {
    if (is(i, {"constexpr", "static_assert", "YARD_CHECK", "throw", "using", "static", "case"}))
      return true;
    for (size_t k = i; k < tokens_.size() && !is(k, {";", "{", "}"}); ++k) {
      if (tokens_[k].kind == Token::Kind::kText) return true;
    }
    return false;
  }

  std::string between(size_t first, size_t last) const {  // as written, on one line
    std::string out;
    if (first > last) return out;
    for (const char c :
         source_.substr(tokens_[first].at, tokens_[last].end() - tokens_[first].at)) {
      if (c != '\n' && c != ' ') {
        out += c;
      } else if (!out.empty() && out.back() != ' ') {
        out += ' ';
      }
    }
    return out;
  }

  void add(size_t first, size_t last, std::string was, std::string now, std::string before,
           std::string after, bool replaces = false) {
    points_.push_back({tokens_[first].line, std::move(was), std::move(now), tokens_[first].at,
                       tokens_[last].end(), std::move(before), std::move(after), replaces});
  }

  // `if (a < b) b = a;` and `a < b ? a : b` are equivalent with `<=`.
  bool is_min_or_max(size_t i) const {
    size_t first = i, last = i;
    while (!is(first - 1, {"(", ";", "=", "return", ",", "{", "?", ":", "&&", "||"})) {
      --first;
      if (closes(first)) first = partner_[first];
    }
    while (!is(last + 1, {")", ";", ",", "?", ":", "&&", "||"})) {
      ++last;
      if (opens(last)) last = partner_[last];
    }
    const std::string a = between(first, i - 1), b = between(i + 1, last);
    if (text(last + 1) == "?") {
      const size_t end = end_of_choice(last + 2);
      const std::string rest = between(last + 2, end);
      return rest == a + " : " + b || rest == b + " : " + a;
    }
    if (!ends_head(last + 1) || text(first - 1) != "(") return false;
    const size_t end = end_of_statement(last + 2);
    if (end == std::string::npos) return false;
    const std::string then = between(last + 2, end);
    return then == a + " = " + b + ";" || then == b + " = " + a + ";";
  }

  size_t end_of_choice(size_t i) const {  // the last token of "a : b"
    while (!is(i + 1, {")", ";", ",", "}", "]"})) {
      ++i;
      if (opens(i)) i = partner_[i];
    }
    return i;
  }

  void swapped_operator(size_t i) {
    if (tokens_[i].kind != Token::Kind::kMark || !tokens_[i].spaced) return;
    for (const Swap& swap : kSwaps) {
      if (swap.was != text(i)) continue;
      const bool moved = swap.was.substr(0, 1) == swap.now.substr(0, 1);
      if (moved && is(i, {"<", "<=", ">", ">="}) && is_min_or_max(i)) continue;
      const std::string op(swap.was);
      size_t first = i, last = i;
      while (first + 5 > i && tokens_[first - 1].line == tokens_[i].line) --first;
      while (last < i + 5 && tokens_[last + 1].line == tokens_[i].line) ++last;
      const auto shown = [&](std::string_view mark) {
        return between(first, i - 1) + " " + std::string(mark) + " " + between(i + 1, last);
      };
      add(i, i, shown(swap.was), shown(swap.now),
          op + " ::yard::mutation::Operator<@, " + std::string(swap.was_type) + ", " +
              std::string(swap.now_type) + ">{} " + op,
          "", true);
    }
  }

  // An operand of && becomes true; one of || becomes false.
  void operand_of_logic(size_t i) {
    if (!is(i, {"&&", "||"}) || !tokens_[i].spaced) return;
    const bool conjunction = text(i) == "&&";
    const auto add_operand = [&](size_t first, size_t last) {
      add(first, last, between(first, last), conjunction ? "true" : "false",
          conjunction ? "(::yard::mutation::is(@) || (" : "(!::yard::mutation::is(@) && (", "))");
    };
    size_t last = i;
    while (!is(last + 1, {"||", "?", ":", ",", ";", ")", "]", "}", "="}) &&
           !(conjunction && text(last + 1) == "&&")) {
      ++last;
      if (opens(last)) last = partner_[last];
    }
    add_operand(i + 1, last);
    const size_t first = first_of_operand(i, !conjunction);
    if (text(first - 1) != text(i)) add_operand(first, i - 1);
  }

  // First token of the operand before `i`. `wide`: an operand of ||, which may contain &&.
  size_t first_of_operand(size_t i, bool wide) const {
    size_t first = i;
    while (!is(first - 1, {"||", "?", ":", ",", ";", "(", "[", "{", "=", "return", "|=", "&="}) &&
           (wide || text(first - 1) != "&&")) {
      --first;
      if (closes(first)) {
        if (body_brace_[first]) return first + 1;
        first = partner_[first];
      }
    }
    return first;
  }

  // Relations have a negation of their own.
  void negated(size_t first, size_t last) {
    for (size_t k = first; k <= last; ++k) {
      if (tokens_[k].spaced && is(k, {"<", "<=", ">", ">=", "==", "!="})) return;
    }
    const std::string was = between(first, last);
    add(first, last, was, "!(" + was + ")", "(::yard::mutation::is(@) != static_cast<bool>(", "))");
  }

  void negated_condition(size_t i) {
    if (text(i) == "if" && text(i + 1) == "(") {
      const size_t close = partner_[i + 1];
      for (size_t k = i + 2; k < close; ++k) {
        if (is(k, {"=", ";"})) return;  // a declaration
      }
      negated(i + 2, close - 1);
    }
    if (text(i) != "?") return;
    size_t first = i;
    while (!is(first - 1, {"?", ":", ",", ";", "(", "[", "{", "=", "return",
                           "+=", "-=", "|=", "&=", "*=", "/="})) {
      --first;
      if (closes(first)) {
        if (body_brace_[first]) break;
        first = partner_[first];
      }
    }
    negated(first, i - 1);
  }

  void changed_number(size_t i) {
    const Token& token = tokens_[i];
    if (token.kind != Token::Kind::kNumber || is(i - 1, {"{", "<", "case", "["})) return;
    if (token.text.find_first_not_of("0123456789") != std::string_view::npos) return;
    const std::string was(token.text);
    // As a flag, 2 is as true as 1.
    const bool assigned = was == "1" && text(i - 1) == "=" && text(i + 1) == ";";
    const std::string now = assigned ? "0" : std::to_string(std::stoll(was) + 1);
    const std::string shown = between(i - 1, i);
    add(i, i, shown, shown.substr(0, shown.size() - was.size()) + now,
        "::yard::mutation::value(@, " + was + ", " + now + ")", "", true);
  }

  void swapped_extreme(size_t i) {
    if (text(i) != "std" || text(i + 1) != "::" || !is(i + 2, {"min", "max"})) return;
    const bool max = text(i + 2) == "max";
    add(i, i + 2, max ? "std::max" : "std::min", max ? "std::min" : "std::max",
        std::string("::yard::mutation::Extreme<@, ") + (max ? "true" : "false") + ">::of", "",
        true);
  }

  // Removes an assignment, an increment, a call or a `continue`.
  void dropped_statement(size_t i) {
    const size_t last = end_of_statement(i);
    if (last == std::string::npos || !can_be_dropped(i, last)) return;
    const std::string was = between(i, last);
    add(i, last, was, "(nothing)", "{ if (!::yard::mutation::is(@)) { ", " } }");
  }

  bool can_be_dropped(size_t i, size_t last) const {
    if (is(i, {"++", "--", "continue"})) return true;
    if (text(i) == "return") return last == i + 1;
    if (is(i, {"if", "for", "while", "switch", "do", "else", "const", "auto", "break", "case"}))
      return false;
    size_t k = i;
    if (text(k) == "(") {
      k = partner_[k] + 1;  // (a ? b : c) = d
    } else if (tokens_[k].kind != Token::Kind::kWord) {
      return text(k) == "*";  // *link = ...
    }
    for (; k < last; ++k) {  // names, members, indices, calls
      if (opens(k) && text(k) != "{") {
        k = partner_[k];
      } else if (is(k, {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "<<=", ">>="})) {
        return true;
      } else if (!is(k, {".", "->", "::"}) &&
                 (tokens_[k].kind != Token::Kind::kWord ||
                  (k > i && tokens_[k - 1].kind == Token::Kind::kWord))) {
        return false;
      }
    }
    return text(last - 1) == ")";
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  std::vector<size_t> partner_;
  std::vector<char> in_body_, body_brace_;
  bool open_ = false;  // the statement may be mutated
  std::vector<Point> points_;
};

}  // namespace

std::vector<Point> points_of(std::string_view source) { return Finder(source).find(); }

std::string plant(std::string_view source, const std::vector<Numbered>& points) {
  struct Edit {
    size_t at;
    bool opens;
    size_t width, point, cut;
    std::string text;
  };
  std::vector<Edit> edits;
  for (size_t i = 0; i < points.size(); ++i) {
    const Point& p = points[i].point;
    const auto numbered = [&](std::string text) {
      const size_t at = text.find('@');
      if (at != std::string::npos) text.replace(at, 1, std::to_string(points[i].id));
      return text;
    };
    const size_t width = p.end - p.begin;
    edits.push_back({p.begin, true, width, i, p.replaces ? width : 0, numbered(p.before)});
    if (!p.replaces) edits.push_back({p.end, false, width, i, 0, numbered(p.after)});
  }
  // At equal positions, ends come before begins. Inner ends come first, and outer begins come
  // first.
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    if (a.at != b.at) return a.at < b.at;
    if (a.opens != b.opens) return b.opens;
    if (a.width != b.width) return a.opens ? a.width > b.width : a.width < b.width;
    return a.opens ? a.point < b.point : a.point > b.point;
  });
  std::string out;
  size_t done = 0;
  for (const Edit& edit : edits) {
    out += source.substr(done, edit.at - done);
    out += edit.text;
    done = edit.at + edit.cut;
  }
  return out + std::string(source.substr(done));
}

}  // namespace yard::mutation
