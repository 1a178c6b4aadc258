#include "experiments/report/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "env/base/core/check.h"
#include "experiments/stats/number_text.h"

namespace yard::sim {
namespace {

// Width in terminal columns: UTF-8 continuation bytes take none.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string number_text(double value, int decimals) {
  const std::string text = fixed_text(value, decimals);
  return text.empty() ? "-" : text;
}

std::string significant_digits_text(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}g}", value, digits) : "-";
}

std::string percent_text(double share, int decimals) {
  return std::isfinite(share) ? number_text(100 * share, decimals) + " %" : "-";
}

std::string interval_text(double lo, double hi, int decimals) {
  return "[" + number_text(lo, decimals) + ", " + number_text(hi, decimals) + "]";
}

std::string offered_load_text(double load) {
  return std::isfinite(load) ? number_text(load, 3) : "n/a";
}

TextTable::TextTable(std::vector<std::string> headings, size_t left) : left_(left) {
  lines_.push_back({std::move(headings), ""});
}

void TextTable::row(std::vector<std::string> cells) {
  const size_t columns = lines_.front().cells.size();
  YARD_CHECK(cells.size() <= columns, "a row has at most a cell for each heading");
  cells.resize(columns);
  lines_.push_back({std::move(cells), ""});
}

void TextTable::line(std::string text) { lines_.push_back({{}, std::move(text)}); }

std::string TextTable::text() const {
  std::vector<size_t> widths(lines_.front().cells.size(), 0);
  for (const Line& line : lines_) {
    for (size_t c = 0; c < line.cells.size(); ++c) {
      widths[c] = std::max(widths[c], width_of(line.cells[c]));
    }
  }
  std::string out;
  for (const Line& line : lines_) {
    std::string line_text = line.whole;
    for (size_t c = 0; c < line.cells.size(); ++c) {
      const std::string padding(widths[c] - width_of(line.cells[c]), ' ');
      if (c > 0) line_text += "  ";
      line_text += c < left_ ? line.cells[c] + padding : padding + line.cells[c];
    }
    line_text.erase(line_text.find_last_not_of(' ') + 1);
    out += line_text + "\n";
  }
  return out;
}

}  // namespace yard::sim
