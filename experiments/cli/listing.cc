#include "experiments/cli/listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"
#include "policies/policy.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_array()) return value.is_null() ? "-" : value.dump();
  std::vector<std::string> parts;
  for (const Json& part : value) parts.push_back(text_of(part));
  return join(parts);
}

// Returns how to set a setting on the command line.
std::string how_to_set(const std::string& kind, const std::string& name) {
  if (kind == "policies") return "--set " + name + ".KEY=VALUE";
  if (kind == "traces") return "--set trace.KEY=VALUE";
  if (kind == "rules") return "--set rules.KEY=VALUE";
  return "in the training's YAML file, or --set KEY=VALUE";
}

std::string settings_text(const Json& settings) {
  const auto longest = [&](const char* name, size_t width) {
    for (const Json& one : settings) {
      width = std::max(width, one[name].get_ref<const std::string&>().size());
    }
    return width;
  };
  const size_t key = longest("key", 3), value = longest("default", 7);
  const size_t range =
      std::min<size_t>(longest("range", 5), 32);  // longer lists of words shift only their own line
  std::string out;
  const auto line = [&](const std::string& a, const std::string& b, const std::string& c,
                        const std::string& d) {
    out += fmt::format("  {:<{}}  {:<{}}  {:<{}}  {}\n", a, key, b, value, c, range, d);
  };
  line("key", "default", "range", "description");
  for (const Json& one : settings) {
    const auto text = [&](const char* name) {
      const std::string& found = one[name].get_ref<const std::string&>();
      return found.empty() ? std::string("-") : found;
    };
    line(text("key"), text("default"), text("range"), text("help"));
  }
  return out;
}

}  // namespace

Json settings_json(const std::vector<Field>& fields) {
  Json settings = Json::array();
  for (const Field& field : fields) {
    settings.push_back({{"key", field.key},
                        {"default", field.value},
                        {"range", field.range},
                        {"help", field.help}});
  }
  return settings;
}

Json listed_row(const std::string& kind, const Json& rows, const std::string& name) {
  std::vector<std::string> names;
  for (const Json& row : rows) {
    names.push_back(row["name"].get<std::string>());
    if (names.back() == name) return row;
  }
  throw unknown_name("list " + kind, names, name,
                     kind == "policies" ? suggest_policies_for_term(name) : "");
}

std::string listing_text(const std::string& kind, const Json& row) {
  std::string out = row["name"].get<std::string>() + "\n";
  for (const auto& [key, value] : row.items()) {
    if (key == "name" || key == "settings") continue;
    const std::string text = text_of(value);
    const bool said_before = key == "source" && row.contains("about") && row["about"] == value;
    if (text.empty() || text == "-" || said_before) continue;
    out += fmt::format("  {:<12} {}\n", key, text);
  }
  if (!row.contains("settings")) return out;
  if (row["settings"].empty()) return out + "no settings\n";
  return out + "settings (" + how_to_set(kind, row["name"].get<std::string>()) + "):\n" +
         settings_text(row["settings"]);
}

}  // namespace yard
