// Figures of simulate's JSON document as plain tables, for a page and for CSV files: size classes,
// waits by reason, fairness, tenants, GPU time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace yard::report {

struct PlainTable {
  std::string name;   // for a file: "size_classes"
  std::string title;  // for a section: "Size classes"
  std::vector<std::string> columns;
  std::vector<std::vector<nlohmann::ordered_json>> rows;  // null: unknown

  // CSV by RFC 4180, with a header. Unknown values are empty cells.
  std::string csv() const;
};

// Returns the tables which have data. `runs`: the list `runs` of simulate's document.
std::vector<PlainTable> plain_tables(const nlohmann::ordered_json& runs);

}  // namespace yard::report
