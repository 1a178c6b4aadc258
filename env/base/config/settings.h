// Parses settings from text into typed structs. One list of fields gives parser, range check, help
// and record.
//   struct Config {
//     double lr = 1e-3;
//     std::string order = "sjf";
//     void fields(auto& f) {
//       f("lr", lr, 0.0, 1.0, "Adam step size");
//       f("order", order, {"sjf", "fifo"}, "queue order");
//     }
//   };
//   const auto config = parse<Config>(Settings::from_yaml("run.yaml"));
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "env/base/core/check.h"
#include "env/base/text/text.h"

namespace yard {

struct GivenSetting {
  std::string key;     // dotted for nested maps
  std::string value;   // lists are joined by commas
  std::string origin;  // "file.yaml:12" or "command line", for error messages
};

// Settings as given: keys and values, in the order in which the keys were first set.
class Settings {
 public:
  Settings() = default;
  // Sets keys and values with the origin "default".
  Settings(std::initializer_list<std::pair<const char*, std::string>> entries) {
    for (const auto& [key, value] : entries) set(key, value, "default");
  }

  // Reads a YAML file. Throws InputError unless it is a map of scalars, lists of scalars and maps.
  static Settings from_yaml(const std::string& path);

  // Sets the value of a key, and replaces its earlier value if there is one.
  void set(const std::string& key, const std::string& value, const std::string& origin);

  // Sets a key from "key=value".
  void overlay(std::string_view assignment, const std::string& origin = "command line");

  const std::vector<GivenSetting>& entries() const { return entries_; }
  const GivenSetting* find(std::string_view key) const;  // nullptr if not set

 private:
  std::vector<GivenSetting> entries_;
};

// A policy with settings, from a YAML file which the commands `tune` and `evolve` write:
//   policy: las
//   settings: {limit_1_gpu_s: 3000}
struct PolicyFile {
  std::string policy;
  Settings settings;
};

// Reads the keys `policy` and `settings`, and ignores all other keys. Throws InputError if the file
// names no policy or, unless `policy` is empty, another policy.
PolicyFile read_policy_file(const std::string& file, const std::string& policy = "");

// One field of a config: its description, and the parser of its value.
struct Field {
  std::string key, type, range;
  std::string value;  // value in the struct; in the result of describe(), the default
  std::string help;
  std::function<bool(std::string_view)> read;  // false if the text is invalid
  double min = 0, max = 0;                     // limits of an integer or number
};

std::string range_text(const std::string& min, const std::string& max);  // "[MIN, MAX]"

// The argument `f` of a config's fields(). A FieldList holds references to the config's members.
class FieldList {
 public:
  // Adds a number within [min, max]. T is double, float, int, int64_t or uint64_t.
  template <class T>
  void operator()(const char* key, T& value, std::type_identity_t<T> min,
                  std::type_identity_t<T> max, const char* help) {
    const auto read = [&value, min, max](std::string_view text) {
      const auto parsed = parse_number<T>(text);
      if (!parsed || !(*parsed >= min && *parsed <= max)) return false;  // NaN is in no range
      value = *parsed;
      return true;
    };
    YARD_CHECK(value >= min && value <= max, std::string(key) + ": default out of range");
    add({key, std::is_integral_v<T> ? "integer" : "number",
         range_text(shortest_text(min), shortest_text(max)), shortest_text(value), help, read,
         static_cast<double>(min), static_cast<double>(max)});
  }
  void operator()(const char* key, bool& value, const char* help);
  void operator()(const char* key, std::string& value, const char* help);
  void operator()(const char* key, std::string& value, const std::vector<std::string>& choices,
                  const char* help);
  void operator()(const char* key, std::vector<double>& value, const char* help);
  void operator()(const char* key, std::vector<std::string>& value, const char* help);

  // Throws InputError at the first unknown key or invalid value.
  void assign(const Settings& settings) const;

  const std::vector<Field>& fields() const { return fields_; }

 private:
  void add(Field field);

  std::vector<Field> fields_;
};

// Config of a class without settings, for which every key is unknown.
struct NoConfig {
  void fields(FieldList&) {}
};

template <class C>
C parse(const Settings& settings) {
  C config;
  FieldList list;
  config.fields(list);
  list.assign(settings);
  return config;
}

// Returns the fields with their defaults, for help texts.
template <class C>
std::vector<Field> describe() {
  C config;
  FieldList list;
  config.fields(list);
  std::vector<Field> fields = list.fields();
  for (Field& field : fields) field.read = nullptr;  // because it refers to `config`
  return fields;
}

// Returns keys and values which parse() converts to an equal config.
template <class C>
std::vector<std::pair<std::string, std::string>> keys_and_values(const C& config) {
  C copy = config;  // fields() needs mutable references
  FieldList list;
  copy.fields(list);
  std::vector<std::pair<std::string, std::string>> out;
  for (const Field& field : list.fields()) out.emplace_back(field.key, field.value);
  return out;
}

}  // namespace yard
