#include "experiments/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "env/base/text/utf8.h"
#include "experiments/stats/number_text.h"

namespace yard::report {
namespace {

std::string grouped(std::string digits) {
  const size_t begin = digits.starts_with('-') ? 1 : 0;
  size_t at = std::min(digits.find('.'), digits.size());
  while (at > begin + 3) digits.insert(at -= 3, ",");
  return digits;
}

std::string trimmed(std::string digits) {
  if (digits.find('.') == digits.npos) return digits;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  return digits;
}

}  // namespace

std::string escape(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD", kSpecial = "&<>\"'";
  constexpr const char* kEntities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_character_length(text.substr(at));
    if (length != 1) {
      out += length == 0 ? kReplacement : text.substr(at, length);
      at += std::max<size_t>(length, 1);
      continue;
    }
    const char c = text[at++];
    const size_t special = kSpecial.find(c);
    if (special != kSpecial.npos) {
      out += kEntities[special];
    } else {
      out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return out;
}

std::string number_text(std::optional<double> value, int decimals) {
  if (!value || !std::isfinite(*value)) return std::string(kAbsent);
  if (std::abs(*value) >= 1e15) return fmt::format("{:.3g}", *value);
  return grouped(fixed_text(*value, decimals));
}

std::string key_title(const std::string& key) {
  struct Word {
    const char *part, *title;
  };
  constexpr Word kWords[] = {{"jct", "JCT"},
                             {"gpu", "GPU"},
                             {"gpus", "GPUs"},
                             {"kl", "KL divergence"},
                             {"SPS", "samples per second"},
                             {"clipfrac", "clip fraction"},
                             {"p50", "median"},
                             {"p95", "95th percentile"},
                             {"p99", "99th percentile"}};
  std::string out, part;
  const auto end_part = [&] {
    for (const Word& word : kWords) {
      if (part == word.part) part = word.title;
    }
    out += part;
    part.clear();
  };
  const bool seconds = key.ends_with("_s") && !key.ends_with("per_s");
  for (const char c : seconds ? key.substr(0, key.size() - 2) : key) {
    if (c != '/' && c != '_') {
      part += c;
      continue;
    }
    end_part();
    out += c == '/' ? ": " : " ";
  }
  end_part();
  if (seconds) out += ", s";
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out;
}

std::string duration_text(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr Unit kUnits[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
  for (const Unit& unit : kUnits) {
    if (std::abs(seconds) < unit.seconds) continue;
    const double value = seconds / unit.seconds;
    const int decimals = std::abs(value) < 10 ? 2 : std::abs(value) < 100 ? 1 : 0;
    return grouped(trimmed(fmt::format("{:.{}f}", value, decimals))) + " " + unit.name;
  }
  return trimmed(fmt::format("{:.3f}", seconds)) + " s";
}

std::string tick_text(double value, double step) {
  const double size = std::abs(value);
  if (size < step * 1e-6) return "0";
  if (size >= 1e7 || size < 1e-4) return fmt::format("{:.3g}", value);
  // Enough digits to distinguish neighbouring ticks; 1e-9 keeps powers of ten from rounding down.
  const int decimals = static_cast<int>(std::max(0.0, -std::floor(std::log10(step) + 1e-9)));
  return grouped(trimmed(fmt::format("{:.{}f}", value, std::min(decimals, 9))));
}

std::string section(const std::string& heading, const std::string& content) {
  if (content.empty()) return "";
  return "<section><h2>" + heading + "</h2>\n" + content + "</section>\n";
}

std::string facts(const std::vector<std::pair<std::string, std::string>>& what) {
  std::string out = "<ul class='facts'>";
  for (const auto& [name, value] : what) {
    if (value.empty() || value == kAbsent) continue;
    out += "<li><b>" + escape(name) + "</b> " + escape(value) + "</li>";
  }
  return out + "</ul>\n";
}

}  // namespace yard::report
