// An HTML table. Wide tables scroll within their frame, and the first column stays visible.
#pragma once

#include <string>
#include <vector>

namespace yard::report {

class Table {
 public:
  // A heading may have a tooltip after '|'. A leading '<' marks a text column, which is
  // left-aligned and wraps; other columns do not.
  explicit Table(const std::vector<std::string>& headings);

  // Adds a row. Requires: a cell of escaped HTML for each heading; the first is the row's header.
  void row(const std::vector<std::string>& cells, const std::string& css_class = "");

  // Adds a heading across all columns, before the rows which it is about. Escapes `text`.
  void heading(const std::string& text);

  std::string html() const;

 private:
  std::vector<bool> text_;  // by column
  std::string head_, body_;
};

}  // namespace yard::report
