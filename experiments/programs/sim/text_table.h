// A table for a terminal. Columns are as wide as their widest cell, so that a long name moves the
// columns behind it and breaks none.
//
//   TextTable table({"policy", "mean JCT s"});
//   table.row({"las", number_text(812.5, 1)});
//   std::fputs(table.text().c_str(), stdout);
#pragma once

#include <string>
#include <vector>

namespace yard::sim {

// "812.5"; "-" for a figure that there is not (NaN, infinity): nothing prints "nan".
std::string number_text(double value, int decimals);
// So many digits that count: "812.5", "1.2e+06"; "-" as above.
std::string digits_text(double value, int digits);
// "12.5 %" of 0.125, "-" as above.
std::string percent_text(double share, int decimals);
// "[0.951, 0.973]", each end as above.
std::string interval_text(double lo, double hi, int decimals = 3);

class TextTable {
 public:
  // The first `left` columns are aligned to the left, the others to the right.
  explicit TextTable(std::vector<std::string> headings, size_t left = 1);

  // Requires: at most as many cells as headings; cells that are left out are empty.
  void row(std::vector<std::string> cells);
  // A line of its own between rows, of any length.
  void line(std::string text);

  // Ends with a line's end. Lines do not end with spaces.
  std::string text() const;

 private:
  struct Line {
    std::vector<std::string> cells;  // empty: `whole` stands alone
    std::string whole;
  };
  size_t left_;
  std::vector<Line> lines_;
};

}  // namespace yard::sim
