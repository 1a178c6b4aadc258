// Builds an HTML table. A wide table scrolls within a frame, and its first column stays visible.
#pragma once

#include <string>
#include <vector>

namespace yard::report {

class Table {
 public:
  // A heading may have a tooltip after '|'. A heading with a leading '<' is that of a text column,
  // which is left-aligned and wraps its text.
  explicit Table(const std::vector<std::string>& headings);

  // Adds a row. Requires: one cell of escaped HTML per heading. The first cell is the row's header.
  void row(const std::vector<std::string>& cells, const std::string& css_class = "");

  // Adds a heading across all columns, which is about the rows added after it. Escapes `text`.
  void group_heading(const std::string& text);

  std::string html() const;

 private:
  std::vector<bool> text_;  // whether each column is a text column
  std::string head_, body_;
};

}  // namespace yard::report
