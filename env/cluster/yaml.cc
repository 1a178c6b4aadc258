#include "env/cluster/yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "env/base/config/yaml_document.h"
#include "env/base/core/check.h"
#include "env/base/core/error.h"
#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

std::string said(const YAML::Node& node) {
  if (node.IsScalar()) return "'" + node.Scalar() + "'";
  if (node.IsSequence()) return node.size() == 0 ? "an empty list" : "a list";
  return node.IsMap() ? "a map" : "nothing";
}

// Returns the number at `node`, or `otherwise` if there is none.
template <class T>
T number_from(const YamlFile& file, const YAML::Node* node, const std::string& key, const char* as,
              T otherwise, T lowest, T highest) {
  if (node == nullptr) return otherwise;
  const auto value = node->IsScalar() ? parse_number<T>(node->Scalar()) : std::nullopt;
  if (value && *value >= lowest && *value <= highest) return *value;
  file.fail(*node, key + as + " from " + shortest_text(lowest) + " to " + shortest_text(highest));
}

}  // namespace

std::string YamlFile::where(const YAML::Node& node) const {
  return yaml_position(path_, node.Mark());
}

void YamlFile::fail(const YAML::Node& node, const std::string& expected) const {
  fail(node, expected, said(node));
}

void YamlFile::fail(const YAML::Node& node, const std::string& expected,
                    const std::string& got) const {
  throw InputError(where(node), expected, got);
}

std::string YamlFile::text(const YAML::Node& node, const std::string& what) const {
  if (!node.IsScalar() || node.Scalar().empty()) fail(node, what);
  return node.Scalar();
}

struct YamlMap::Entry {
  std::string key;
  YAML::Node value;
};

YamlMap::YamlMap(const YamlFile& file, const YAML::Node& node, const std::string& what,
                 const std::vector<std::string>& keys)
    : file_(&file), where_(file.where(node)), what_(what) {
  const std::string known = keys.empty() ? "" : ", with the keys " + join(keys);
  if (!node.IsMap()) file.fail(node, what + " as a map" + known);
  for (const auto& entry : node) {
    const YAML::Node key = entry.first;
    if (!key.IsScalar() || key.Scalar().empty()) file.fail(key, "a key of " + what);
    if (!keys.empty() && std::ranges::find(keys, key.Scalar()) == keys.end()) {
      file.fail(key, "one of the keys " + join(keys), said(key) + did_you_mean(key.Scalar(), keys));
    }
    if (find(key.Scalar()) != nullptr) file.fail(key, "each key once", said(key) + " again");
    entries_.push_back({key.Scalar(), entry.second});
  }
}

YamlMap::~YamlMap() = default;

std::string YamlMap::where(const std::string& key) const {
  const YAML::Node* value = find(key);
  return value == nullptr ? where_ : file_->where(*value);
}

void YamlMap::fail(const std::string& key, const std::string& expected,
                   const std::string& got) const {
  throw InputError(where(key), expected, got);
}

std::vector<std::string> YamlMap::keys() const {
  std::vector<std::string> out;
  for (const Entry& entry : entries_) out.push_back(entry.key);
  return out;
}

const YAML::Node* YamlMap::find(const std::string& key) const {
  const auto it = std::ranges::find(entries_, key, &Entry::key);
  return it == entries_.end() ? nullptr : &it->value;
}

const YAML::Node& YamlMap::operator[](const std::string& key) const {
  const YAML::Node* value = find(key);
  YARD_CHECK(value != nullptr, "no key " + key);
  return *value;
}

int64_t YamlMap::integer(const std::string& key, int64_t otherwise, int64_t lowest,
                         int64_t highest) const {
  return number_from(*file_, find(key), key, " as a whole number", otherwise, lowest, highest);
}

double YamlMap::number(const std::string& key, double otherwise, double lowest,
                       double highest) const {
  return number_from(*file_, find(key), key, " as a number", otherwise, lowest, highest);
}

bool YamlMap::flag(const std::string& key, bool otherwise) const {
  return choice(key, otherwise ? 1 : 0, {"false", "true"}) == 1;
}

int YamlMap::choice(const std::string& key, int otherwise,
                    const std::vector<std::string>& names) const {
  const YAML::Node* node = find(key);
  if (node == nullptr) return otherwise;
  const auto it = node->IsScalar() ? std::ranges::find(names, node->Scalar()) : names.end();
  if (it == names.end()) file_->fail(*node, key + " as one of: " + join(names));
  return static_cast<int>(it - names.begin());
}

std::string YamlMap::text(const std::string& key, const std::string& otherwise) const {
  return has(key) ? text(key) : otherwise;
}

std::string YamlMap::text(const std::string& key) const {
  const YAML::Node* node = find(key);
  if (node == nullptr) fail(key, key + " of " + what_, "none");
  return file_->text(*node, key + " as non-empty text");
}

std::string YamlMap::path(const std::string& key) const { return resolve_path(key, text(key)); }

std::vector<std::string> YamlMap::paths(const std::string& key) const {
  const YAML::Node value = (*this)[key];
  if (!value.IsSequence()) return {path(key)};
  std::vector<std::string> out;
  for (const auto& item : value) {
    out.push_back(resolve_path(key, file_->text(item, "files in " + key)));
  }
  if (out.empty()) fail(key, "a file, or a list of them", "none");
  return out;
}

std::string YamlMap::resolve_path(const std::string& key, const std::string& text) const {
  namespace fs = std::filesystem;
  constexpr std::string_view kTraces = "$YARD_TRACES/";
  const auto in = [](const fs::path& folder, std::string_view rest) {
    return (folder / rest).lexically_normal().string();
  };
  if (!text.starts_with(kTraces)) return in(fs::path(file_->path()).parent_path(), text);
  const std::string_view rest = std::string_view(text).substr(kTraces.size());
  const char* named = std::getenv("YARD_TRACES");
  if (named != nullptr && *named != 0) {
    if (fs::is_directory(named)) return in(named, rest);
    fail(key, "the folder of public traces in the environment variable YARD_TRACES",
         "'" + std::string(named) + "'");
  }
  fs::path at = fs::weakly_canonical(file_->path()).parent_path();
  for (; at.has_relative_path(); at = at.parent_path()) {
    const fs::path folder = at / "shared/traces";
    if (fs::is_directory(folder)) return in(folder, rest);
  }
  fail(key, "the folder of public traces in the environment variable YARD_TRACES", "none set");
}

}  // namespace yard
