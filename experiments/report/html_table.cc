#include "experiments/report/html_table.h"

#include <fmt/format.h>

#include "env/base/core/check.h"
#include "env/base/text/text.h"
#include "experiments/report/html.h"

namespace yard::report {

Table::Table(const std::vector<std::string>& headings) {
  for (const std::string& heading : headings) {
    std::vector<std::string_view> parts = split(heading, '|');
    text_.push_back(parts[0].starts_with('<'));
    if (text_.back()) parts[0].remove_prefix(1);
    head_ += text_.back() ? "<th scope='col' class='text'" : "<th scope='col'";
    if (parts.size() > 1) head_ += " title='" + escape(parts[1]) + "'";
    head_ += ">" + escape(parts[0]) + "</th>";
  }
}

void Table::row(const std::vector<std::string>& cells, const std::string& css_class) {
  YARD_CHECK(cells.size() == text_.size(), "a row has a cell for each heading");
  body_ += css_class.empty() ? "<tr>" : "<tr class='" + css_class + "'>";
  for (size_t i = 0; i < cells.size(); ++i) {
    const char* cell = text_[i] ? "<td class='text'>" : "<td>";
    body_ += i == 0 ? "<th scope='row'>" + cells[i] + "</th>" : cell + cells[i] + "</td>";
  }
  body_ += "</tr>\n";
}

void Table::group_heading(const std::string& text) {
  body_ +=
      fmt::format("<tr class='across'><th colspan='{}'>{}</th></tr>\n", text_.size(), escape(text));
}

std::string Table::html() const {
  return "<div class='scroll'><table><thead><tr>" + head_ + "</tr></thead><tbody>\n" + body_ +
         "</tbody></table></div>\n";
}

}  // namespace yard::report
