#include "env/base/config/settings.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "env/base/config/yaml_document.h"
#include "env/base/core/error.h"
#include "env/base/text/nearest_name.h"

namespace yard {

namespace {

// Deeper nesting is a mistake or an alias that contains itself.
constexpr int kMaxDepth = 16;
// More keys come from nested aliases, which expand a few lines to billions of keys.
constexpr int kMaxKeys = 10'000;

std::string scalar(const YAML::Node& node) { return node.IsNull() ? "" : node.Scalar(); }

class Flattener {
 public:
  Flattener(const std::string& path, Settings& out) : path_(path), out_(out) {}

  void map(const YAML::Node& map, const std::string& prefix, int depth) {
    for (const auto& entry : map) {
      const std::string origin = path_ + ":" + std::to_string(entry.first.Mark().line + 1);
      if (!entry.first.IsScalar()) throw InputError(origin, "a plain key", "a list or map");
      if (depth > kMaxDepth) {
        throw InputError(origin, "maps nested at most " + std::to_string(kMaxDepth) + " deep",
                         "more");
      }
      if (++keys_ > kMaxKeys) {
        throw InputError(origin, "at most " + std::to_string(kMaxKeys) + " keys", "more");
      }
      const std::string key = prefix + entry.first.Scalar();
      if (entry.second.IsMap()) {
        this->map(entry.second, key + ".", depth + 1);
        continue;
      }
      if (const GivenSetting* first = out_.find(key)) {
        throw InputError(origin, "each key once",
                         in_quotes(key) + " again, first at " + first->origin);
      }
      out_.set(key,
               entry.second.IsSequence() ? list(entry.second, key, origin) : scalar(entry.second),
               origin);
    }
  }

 private:
  static std::string list(const YAML::Node& items, const std::string& key,
                          const std::string& origin) {
    std::vector<std::string> texts;
    for (const YAML::Node& item : items) {
      if (!item.IsScalar() || item.Scalar().find(',') != std::string::npos) {
        throw InputError(origin, "a list of plain values without commas for " + in_quotes(key),
                         item.IsScalar() ? in_quotes(item.Scalar()) : "an item of another kind");
      }
      texts.push_back(item.Scalar());
    }
    return join(texts, ",");
  }

  const std::string& path_;
  Settings& out_;
  int keys_ = 0;  // visited so far, including keys of maps
};

// Parses a comma-separated list, with or without brackets. Empty text is an empty list; an empty
// element is an error.
template <class T, class Read>
bool read_list(std::string_view text, std::vector<T>& out, Read read) {
  std::vector<T> items;
  text = trim(text);
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  if (!trim(text).empty()) {
    for (const std::string_view part : split(text, ',')) {
      const auto item = read(trim(part));
      if (!item) return false;
      items.push_back(*item);
    }
  }
  out = std::move(items);
  return true;
}

std::vector<std::string> choices_of(const Field& field) {
  std::vector<std::string> out;
  if (field.type != "choice") return out;
  for (const std::string_view name : split(field.range, '|')) out.emplace_back(trim(name));
  return out;
}

}  // namespace

Settings Settings::from_yaml(const std::string& path) {
  Settings settings;
  const YAML::Node document = read_yaml_document(path);
  if (document.IsNull()) return settings;
  if (!document.IsMap()) throw InputError(path, "keys and values", "a YAML list or scalar");
  Flattener(path, settings).map(document, "", 1);
  return settings;
}

void Settings::set(const std::string& key, const std::string& value, const std::string& origin) {
  const auto it = std::ranges::find(entries_, key, &GivenSetting::key);
  if (it == entries_.end()) return entries_.push_back({key, value, origin});
  *it = {key, value, origin};
}

void Settings::overlay(std::string_view assignment, const std::string& origin) {
  const size_t equals = assignment.find('=');
  const std::string_view key = trim(assignment.substr(0, equals));
  if (equals == assignment.npos || key.empty()) {
    throw InputError(origin, "key=value", in_quotes(assignment));
  }
  set(std::string(key), std::string(trim(assignment.substr(equals + 1))), origin);
}

const GivenSetting* Settings::find(std::string_view key) const {
  const auto it = std::ranges::find(entries_, key, &GivenSetting::key);
  return it == entries_.end() ? nullptr : &*it;
}

PolicyFile read_policy_file(const std::string& file, const std::string& policy) {
  constexpr std::string_view kSettings = "settings.";
  const Settings all = Settings::from_yaml(file);
  const GivenSetting* name = all.find("policy");
  if (name == nullptr) throw InputError(file, "a key `policy`", "none");
  PolicyFile out{name->value, {}};
  if (!policy.empty() && out.policy != policy) {
    throw InputError(file, "a file of the policy '" + policy + "'", "'" + out.policy + "'");
  }
  for (const GivenSetting& s : all.entries()) {
    if (!s.key.starts_with(kSettings)) continue;
    out.settings.set(s.key.substr(kSettings.size()), s.value, s.origin);
  }
  return out;
}

void FieldList::operator()(const char* key, bool& value, const char* help) {
  const auto read = [&value](std::string_view text) {
    if (text != "true" && text != "false") return false;
    value = text == "true";
    return true;
  };
  add({key, "bool", "true | false", value ? "true" : "false", help, read});
}

void FieldList::operator()(const char* key, std::string& value, const char* help) {
  const auto read = [&value](std::string_view text) {
    value = text;
    return true;
  };
  add({key, "text", "", value, help, read});
}

void FieldList::operator()(const char* key, std::string& value,
                           const std::vector<std::string>& choices, const char* help) {
  YARD_CHECK(std::ranges::count(choices, value) == 1,
             std::string(key) + ": default is not among the choices");
  const auto read = [&value, choices](std::string_view text) {
    if (std::ranges::find(choices, text) == choices.end()) return false;
    value = text;
    return true;
  };
  add({key, "choice", join(choices, " | "), value, help, read});
}

void FieldList::operator()(const char* key, std::vector<double>& value, const char* help) {
  const auto read = [&value](std::string_view text) {
    return read_list(text, value, parse_double);
  };
  std::vector<std::string> texts;
  texts.reserve(value.size());
  for (const double item : value) texts.push_back(shortest_text(item));
  add({key, "numbers", "comma-separated", join(texts, ","), help, read});
}

void FieldList::operator()(const char* key, std::vector<std::string>& value, const char* help) {
  const auto read = [&value](std::string_view text) {
    return read_list(text, value, [](std::string_view part) {
      return part.empty() ? std::nullopt : std::optional<std::string>(part);
    });
  };
  add({key, "texts", "comma-separated", join(value, ","), help, read});
}

std::string range_text(const std::string& min, const std::string& max) {
  return "[" + min + ", " + max + "]";
}

void FieldList::add(Field field) {
  YARD_CHECK(std::ranges::find(fields_, field.key, &Field::key) == fields_.end(),
             "two fields named " + field.key);
  fields_.push_back(std::move(field));
}

void FieldList::assign(const Settings& settings) const {
  for (const GivenSetting& setting : settings.entries()) {
    const auto field = std::ranges::find(fields_, setting.key, &Field::key);
    if (field == fields_.end()) {
      std::vector<std::string> keys;
      for (const Field& known : fields_) keys.push_back(known.key);
      throw InputError(
          setting.origin + ": unknown key " + in_quotes(setting.key) +
          (keys.empty() ? ", no keys are accepted here" : ", expected one of: " + join(keys)) +
          did_you_mean(setting.key, keys));
    }
    if (!field->read(setting.value)) {
      const std::string range = field->range.empty() ? "" : " (" + field->range + ")";
      throw InputError(setting.origin, field->key + " = " + field->type + range,
                       in_quotes(setting.value) + did_you_mean(setting.value, choices_of(*field)));
    }
  }
}

}  // namespace yard
