// Converts figures of simulate's JSON document to plain tables, for a report page and for CSV
// files: size classes, waits by reason, fairness, tenants, GPU time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace yard::report {

struct PlainTable {
  std::string name;   // name of the CSV file: "size_classes"
  std::string title;  // title on the page: "Size classes"
  std::vector<std::string> columns;
  std::vector<std::vector<nlohmann::ordered_json>> rows;  // null: unknown

  // Returns the table as RFC 4180 CSV with a header. Unknown values are empty cells.
  std::string csv() const;
};

// Returns the tables which have data. `runs`: the list `runs` of simulate's JSON document.
std::vector<PlainTable> plain_tables(const nlohmann::ordered_json& runs);

}  // namespace yard::report
