#include "serving/net/traceparent.h"

#include <algorithm>

namespace yard {
namespace {

constexpr size_t kTrace = 3, kSpan = 36, kFlags = 53, kLength = 55;  // where the parts begin

bool is_lower_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// Whether the text is so many lower-case hex digits, not all of them 0.
bool is_id(std::string_view text) {
  return std::ranges::all_of(text, is_lower_hex) &&
         std::ranges::any_of(text, [](char c) { return c != '0'; });
}

}  // namespace

std::string valid_traceparent(std::string_view text) {
  // Later versions may append to what version 00 has.
  const bool longer = text.size() > kLength && text[kLength] == '-' && !text.starts_with("00");
  if (text.size() != kLength && !longer) return "";
  text = text.substr(0, kLength);
  const bool valid = text[kTrace - 1] == '-' && text[kSpan - 1] == '-' && text[kFlags - 1] == '-' &&
                     is_lower_hex(text[0]) && is_lower_hex(text[1]) && !text.starts_with("ff") &&
                     is_id(text.substr(kTrace, 32)) && is_id(text.substr(kSpan, 16)) &&
                     is_lower_hex(text[kFlags]) && is_lower_hex(text[kFlags + 1]);
  return valid ? std::string(text) : "";
}

bool is_sampled(std::string_view traceparent) {
  const char low = traceparent[kFlags + 1];
  return ((low <= '9' ? low - '0' : low - 'a' + 10) & 1) != 0;
}

}  // namespace yard
