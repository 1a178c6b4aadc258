// Builds a text table for a terminal, and formats numbers for table cells. Each column is as wide
// as the column's widest cell.
//
//   TextTable table({"policy", "mean JCT s"});
//   table.row({"las", number_text(812.5, 1)});
//   std::fputs(table.text().c_str(), stdout);
#pragma once

#include <string>
#include <vector>

namespace yard::sim {

// Returns "812.5"; "-" if the value is NaN or infinite.
std::string number_text(double value, int decimals);
// Returns `digits` significant digits: "812.5", "1.2e+06"; "-" if the value is NaN or infinite.
std::string significant_digits_text(double value, int digits);
// Returns "12.5 %" for 0.125; "-" if the share is NaN or infinite.
std::string percent_text(double share, int decimals);
// Returns "[0.951, 0.973]"; each end is formatted by number_text().
std::string interval_text(double lo, double hi, int decimals = 3);
// Returns "0.875"; "n/a" for the undefined load of jobs which all arrive at the same time.
std::string offered_load_text(double load);

class TextTable {
 public:
  // The first `left` columns are left-aligned; all later columns are right-aligned.
  explicit TextTable(std::vector<std::string> headings, size_t left = 1);

  // Adds a row; missing cells stay empty. Requires: at most as many cells as headings.
  void row(std::vector<std::string> cells);
  // Adds a line of free text between rows.
  void line(std::string text);

  // Returns the table, ending with a newline and without trailing spaces.
  std::string text() const;

 private:
  struct Line {
    std::vector<std::string> cells;  // cells; empty: the line is the text `whole`
    std::string whole;
  };
  size_t left_;
  std::vector<Line> lines_;
};

}  // namespace yard::sim
