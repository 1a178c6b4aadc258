// Readers of published lists of real machines: one file per format, one registry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

struct NodeListEntry {
  std::string name, type;
  int32_t gpus = 0;
  double cpus = 0, mem_gib = 0;
  int32_t rack = 0, pod = 0;  // numbered from 0 within the list
};

class NodeListReader {
 public:
  static constexpr const char* kKind = "format of a node list";
  struct Info {
    std::string help;
    std::vector<std::string> provided_keys;  // YAML keys of the NodeListEntry fields that it fills
    std::string example;                     // a small list of this format
  };

  virtual ~NodeListReader() = default;
  // Throws InputError, citing `name` with line and column.
  virtual std::vector<NodeListEntry> read(std::string_view text, const std::string& name) const = 0;
};

// Reads rows of comma-separated fields.
class NodeRows {
 public:
  // Columns are found by the first line, in any order, or are `columns` themselves without a
  // `header`. Throws InputError if one is missing.
  NodeRows(std::string_view text, const std::string& name, const std::vector<std::string>& columns,
           bool header);

  // Goes to the next non-empty line. Returns false at the end, throws InputError on a wrong count.
  bool next();

  // By index into `columns`. Each throws InputError if the field is not of that type.
  std::string text(int column) const;  // not empty
  int64_t integer(int column, int64_t lowest, int64_t highest) const;
  std::string_view field(int column) const { return fields_[at_[column]]; }
  [[noreturn]] void fail(int column, const std::string& expected) const;

 private:
  std::string_view rest_;
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<int> at_;  // field index of each column
  size_t width_;
  std::vector<std::string_view> fields_;
  std::string_view line_;
  int64_t number_ = 0;

  bool next_line();
};

}  // namespace yard
