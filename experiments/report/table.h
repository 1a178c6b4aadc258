// A table of a page: wide ones scroll within their own frame, the first column stays in sight.
#pragma once

#include <string>
#include <vector>

namespace yard::report {

class Table {
 public:
  // A heading may carry an explanation, behind '|'. One that begins with '<' is of a column of
  // text: its cells are on the left and wrap. Figures do not.
  explicit Table(const std::vector<std::string>& headings);

  // Cells are HTML, already escaped. The first is the row's name.
  void row(const std::vector<std::string>& cells, const std::string& css_class = "");

  // A line across, before the rows that it is about.
  void heading(const std::string& text);

  std::string html() const;

 private:
  std::vector<bool> text_;  // by column
  std::string head_, body_;
};

}  // namespace yard::report
