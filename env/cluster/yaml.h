// A YAML map read strictly: keys that nobody knows or that come twice, values of another type and
// numbers out of range are InputErrors with file, line and column.
//
//   const YamlMap map(file, node, "a tenant", {"name", "weight"});
//   tenant.name = map.text("name");
//   tenant.weight = map.number("weight", 1, 1e-6, 1e6);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace YAML {
class Node;
struct Mark;
}  // namespace YAML

namespace yard {

// Names a file's places and values in messages.
class YamlFile {
 public:
  explicit YamlFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string where(const YAML::Mark& mark) const;
  std::string where(const YAML::Node& node) const;
  [[noreturn]] void fail(const YAML::Node& node, const std::string& expected) const;
  [[noreturn]] void fail(const YAML::Node& node, const std::string& expected,
                         const std::string& got) const;

  // Throws InputError unless the node is a plain value that is not empty. Returns it.
  std::string text(const YAML::Node& node, const std::string& what) const;

 private:
  std::string path_;
};

class YamlMap {
 public:
  // `keys`: those that are known; none: any.
  YamlMap(const YamlFile& file, const YAML::Node& node, const std::string& what,
          const std::vector<std::string>& keys = {});
  ~YamlMap();
  YamlMap(const YamlMap&) = delete;
  YamlMap& operator=(const YamlMap&) = delete;

  const YamlFile& file() const { return *file_; }
  const std::string& where() const { return where_; }
  std::string where(const std::string& key) const;  // of its value, or of the map
  [[noreturn]] void fail(const std::string& key, const std::string& expected,
                         const std::string& got) const;

  bool has(const std::string& key) const { return find(key) != nullptr; }
  std::vector<std::string> keys() const;                       // in the order of the file
  const YAML::Node& operator[](const std::string& key) const;  // Requires: has(key).

  // Each returns `otherwise` where the key is not there.
  int64_t integer(const std::string& key, int64_t otherwise, int64_t lowest, int64_t highest) const;
  double number(const std::string& key, double otherwise, double lowest, double highest) const;
  bool flag(const std::string& key, bool otherwise) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  // By index into `names`.
  int choice(const std::string& key, int otherwise, const std::vector<std::string>& names) const;

  std::string text(const std::string& key) const;  // which has to be there

  // The same as a path, seen from the folder of this file. "$YARD_TRACES/..." stands for the folder
  // of public traces: without the variable, shared/traces beside this file's folder or any above.
  std::string path(const std::string& key) const;
  // One such path, or a list of them.
  std::vector<std::string> paths(const std::string& key) const;

 private:
  struct Entry;

  const YAML::Node* find(const std::string& key) const;
  std::string path_of(const std::string& key, const std::string& text) const;

  const YamlFile* file_;
  std::string where_, what_;
  std::vector<Entry> entries_;
};

}  // namespace yard
