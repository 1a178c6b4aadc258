// Strict access to a YAML map. Unknown or repeated keys, values of a wrong type and numbers out of
// range throw InputError with file, line and column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace YAML {
class Node;
}

namespace yard {

// Reports positions and values of a file in error messages.
class YamlFile {
 public:
  explicit YamlFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string where(const YAML::Node& node) const;
  [[noreturn]] void fail(const YAML::Node& node, const std::string& expected) const;
  [[noreturn]] void fail(const YAML::Node& node, const std::string& expected,
                         const std::string& got) const;

  // Returns the node's text. Throws InputError unless it is a non-empty scalar.
  std::string text(const YAML::Node& node, const std::string& what) const;

 private:
  std::string path_;
};

class YamlMap {
 public:
  // `keys`: the allowed keys; empty: any.
  YamlMap(const YamlFile& file, const YAML::Node& node, const std::string& what,
          const std::vector<std::string>& keys = {});
  ~YamlMap();
  YamlMap(const YamlMap&) = delete;
  YamlMap& operator=(const YamlMap&) = delete;

  const YamlFile& file() const { return *file_; }
  const std::string& where() const { return where_; }
  std::string where(const std::string& key) const;  // position of the key's value, or of the map
  [[noreturn]] void fail(const std::string& key, const std::string& expected,
                         const std::string& got) const;

  bool has(const std::string& key) const { return find(key) != nullptr; }
  std::vector<std::string> keys() const;                       // in the order of the file
  const YAML::Node& operator[](const std::string& key) const;  // Requires: has(key).

  // Each returns `otherwise` if the key is missing.
  int64_t integer(const std::string& key, int64_t otherwise, int64_t lowest, int64_t highest) const;
  double number(const std::string& key, double otherwise, double lowest, double highest) const;
  bool flag(const std::string& key, bool otherwise) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  // Returns an index into `names`.
  int choice(const std::string& key, int otherwise, const std::vector<std::string>& names) const;

  std::string text(const std::string& key) const;  // the key is required

  // Returns the value as a path, relative to the folder of this file. "$YARD_TRACES/..." is in the
  // folder of public traces: if unset, shared/traces in this file's folder or above.
  std::string path(const std::string& key) const;
  // Accepts one path or a list of paths.
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
