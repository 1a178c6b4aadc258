// Strict access to a YAML map. Unknown or repeated keys, values of a wrong type, and numbers out of
// range throw InputError with file, line and column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace YAML {
class Node;
}

namespace yard {

// Names positions in a YAML file, and throws InputErrors that cite a position and the value there.
class YamlFile {
 public:
  explicit YamlFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string where(const YAML::Node& node) const;
  [[noreturn]] void fail(const YAML::Node& node, const std::string& expected) const;
  [[noreturn]] void fail(const YAML::Node& node, const std::string& expected,
                         const std::string& got) const;

  // Returns the node's text. Throws InputError unless the node is a non-empty scalar.
  std::string text(const YAML::Node& node, const std::string& what) const;

 private:
  std::string path_;
};

class YamlMap {
 public:
  // `keys` are the allowed keys; if it is empty, the map may have any keys.
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
  std::vector<std::string> keys() const;                       // keys in the order of the file
  const YAML::Node& operator[](const std::string& key) const;  // Requires: has(key).

  // Returns the key's value, or `otherwise` if the key is missing.
  int64_t integer(const std::string& key, int64_t otherwise, int64_t lowest, int64_t highest) const;
  double number(const std::string& key, double otherwise, double lowest, double highest) const;
  bool flag(const std::string& key, bool otherwise) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  // Returns the index of the key's value in `names`, or `otherwise` if the key is missing.
  int choice(const std::string& key, int otherwise, const std::vector<std::string>& names) const;

  std::string text(const std::string& key) const;  // value of a key that the map must have

  // Returns the value as a path relative to the folder of this file. "$YARD_TRACES/..." is a path
  // in the folder of public traces, by default shared/traces in this file's folder or one above.
  std::string path(const std::string& key) const;
  // Returns the value as paths; the value is one path or a list of paths.
  std::vector<std::string> paths(const std::string& key) const;

 private:
  struct Entry;

  const YAML::Node* find(const std::string& key) const;
  std::string resolve_path(const std::string& key, const std::string& text) const;

  const YamlFile* file_;
  std::string where_, what_;
  std::vector<Entry> entries_;
};

}  // namespace yard
