// The figures of simulate's document as plain tables, one a subject, for a page and for CSV files:
// size classes, waits by reason, fairness, tenants, GPU time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace yard::report {

struct PlainTable {
  std::string name;   // of a file: "size_classes"
  std::string title;  // of a section: "Size classes"
  std::vector<std::string> columns;
  std::vector<std::vector<nlohmann::ordered_json>> rows;  // null: not known

  // By RFC 4180, with a header; what is not known is an empty cell.
  std::string csv() const;
};

// Those that `runs` has anything for. `runs`: the list under that key of simulate's document.
std::vector<PlainTable> plain_tables(const nlohmann::ordered_json& runs);

}  // namespace yard::report
