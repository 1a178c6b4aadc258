// Readers of published lists of real machines. Each format has one file, which adds a reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

struct ListedNode {
  std::string name, type;
  int32_t gpus = 0;
  double cpus = 0, mem_gib = 0;
  int32_t rack = 0, pod = 0;  // number of the node's rack and pod, from 0, within the list
};

class NodeListReader {
 public:
  static constexpr const char* kKind = "format of a node list";
  struct Info {
    std::string help;
    std::vector<std::string> provided_keys;  // YAML keys of the fields that the format fills
    std::string example;                     // a small list of this format
  };

  virtual ~NodeListReader() = default;
  // Reads a list. Throws InputError, citing `name` with line and column.
  virtual std::vector<ListedNode> read(std::string_view text, const std::string& name) const = 0;
};

// Reads the rows of a list as comma-separated fields.
class NodeRows {
 public:
  // With `header`, finds `columns` by the names in the first line, in any order; without it, a row
  // has the fields `columns`. Throws InputError if a column is missing.
  NodeRows(std::string_view text, const std::string& name, const std::vector<std::string>& columns,
           bool header);

  // Moves to the next non-empty line; false at the end. Throws InputError for a wrong field count.
  bool next();

  // Return a field, by index into `columns`. Throw InputError for an empty text, or for a field
  // that is no integer from `lowest` to `highest`.
  std::string non_empty_text(int column) const;  // not empty
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
