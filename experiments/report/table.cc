#include "experiments/report/table.h"

#include <fmt/format.h>

#include "env/base/check.h"
#include "env/base/text.h"
#include "experiments/report/html.h"

namespace yard::report {

Table::Table(const std::vector<std::string>& headings) : columns_(headings.size()) {
  for (const std::string& heading : headings) {
    const std::vector<std::string_view> parts = split(heading, '|');
    head_ += "<th scope='col'";
    if (parts.size() > 1) head_ += " title='" + escape(parts[1]) + "'";
    head_ += ">" + escape(parts[0]) + "</th>";
  }
}

void Table::row(const std::vector<std::string>& cells, const std::string& css_class) {
  YARD_CHECK(cells.size() == columns_, "a row has a cell for each heading");
  body_ += css_class.empty() ? "<tr>" : "<tr class='" + css_class + "'>";
  for (size_t i = 0; i < cells.size(); ++i) {
    body_ += i == 0 ? "<th scope='row'>" + cells[i] + "</th>" : "<td>" + cells[i] + "</td>";
  }
  body_ += "</tr>\n";
}

void Table::heading(const std::string& text) {
  body_ +=
      fmt::format("<tr class='across'><th colspan='{}'>{}</th></tr>\n", columns_, escape(text));
}

std::string Table::html() const {
  return "<div class='scroll'><table><thead><tr>" + head_ + "</tr></thead><tbody>\n" + body_ +
         "</tbody></table></div>\n";
}

}  // namespace yard::report
