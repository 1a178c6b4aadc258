#include "env/trace/formats/native_json.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/core/max_time.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;
constexpr double kMaxGib = 1e6;  // of a GPU, as in a cluster's YAML
constexpr size_t kShown = 60;    // characters of a value in messages
constexpr int kDepth = 8;        // nesting of values in messages

// dump() is recursive, and values may be nested deeper than the stack allows.
template <class AnyJson>
bool nests_deeper(const AnyJson& value, int depth) {
  if (!value.is_structured()) return false;
  return depth == 0 || std::any_of(value.begin(), value.end(), [&](const AnyJson& item) {
           return nests_deeper(item, depth - 1);
         });
}

template <class AnyJson>
std::string beginning_of(const AnyJson& value) {
  if (nests_deeper(value, kDepth))
    return value.is_array() ? "a deeply nested list" : "a deeply nested object";
  std::string text = value.dump(-1, ' ', true, AnyJson::error_handler_t::replace);
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return text;
}

std::string at(const std::string& place, size_t index) {
  return place + "[" + std::to_string(index) + "]";
}

// Calls `f` with the name, value and default of each number of a group, except those in `after`.
template <class G, class F>
void visit_group(G& group, F&& f) {
  f("count", group.count, RoleGroup{}.count);
  f("min_count", group.min_count, 0);
  f("max_count", group.max_count, 0);
  f("gpus", group.task.gpus, 0);
  f("gpu_milli", group.task.gpu_milli, 0);
  f("gpu_mem_gib", group.task.gpu_mem_gib, 0);
  f("cpu_milli", group.task.cpu_milli, 0);
  f("mem_mib", group.task.mem_mib, 0);
  f("nic_gbps", group.task.nic_gbps, 0);
}

}  // namespace

std::string shown(const Json& value) { return beginning_of(value); }

std::string shown(const nlohmann::json& value) { return beginning_of(value); }

std::optional<Json> parse_json(std::string_view text, Flaw& flaw) {
  // The parser would silently take the last of two equal keys.
  std::vector<std::set<std::string>> open;
  std::string twice;
  const auto on_event = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key &&
        !open.back().insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  try {
    Json json = Json::parse(text, on_event);
    if (twice.empty()) return json;
    flaw = {"", "duplicate key", "each key once", "'" + twice + "' twice"};
  } catch (const Json::parse_error& error) {
    flaw = {"byte " + std::to_string(error.byte), "not JSON", "JSON", "a syntax error"};
  } catch (const Json::out_of_range&) {
    flaw = {"", "number too large", "numbers in the range of a double", "a larger number"};
  }
  return std::nullopt;
}

std::string dump_json(const Json& json, const std::string& where) {
  try {
    return json.dump();
  } catch (const Json::type_error&) {
    throw InputError(where, "text in UTF-8, as JSON requires",
                     json.dump(-1, ' ', true, Json::error_handler_t::replace));
  }
}

Json seconds_json(int64_t us) {
  if (us % kUsPerS == 0) return us / kUsPerS;
  const double s = static_cast<double>(us) / 1e6;
  if (std::llround(s * 1e6) == us) return s;
  return format_seconds(us);
}

void JsonReader::fail(std::string place, std::string reason, std::string expected,
                      std::string got) {
  if (!flaw_) {
    flaw_ = Flaw{std::move(place), std::move(reason), std::move(expected), std::move(got)};
  }
}

bool JsonReader::expect_array(const std::string& place, const Json& value) {
  if (!value.is_array() && !value.is_null()) fail(place, "not a list", "a list", shown(value));
  return value.is_array() && !flaw_;
}

bool JsonReader::expect_object(const std::string& place, const Json& value) {
  if (!value.is_object()) fail(place, "not an object", "an object", shown(value));
  return value.is_object() && !flaw_;
}

void JsonReader::text(const std::string& place, const Json& value, std::string& out) {
  if (value.is_null() || flaw_) return;
  if (value.is_number()) {
    const auto real = value.get<double>();
    if (value.is_number_integer()) {
      out = value.dump();
    } else if (std::abs(real) < 0x1p53 && real == std::trunc(real)) {
      out = std::to_string(static_cast<int64_t>(real));
    } else {
      fail(place, "not a string", "a string or a whole number", shown(value));
    }
    return;
  }
  if (!value.is_string()) return fail(place, "not a string", "a string", shown(value));
  out = value.get_ref<const std::string&>();
}

void JsonReader::seconds(const std::string& place, const Json& value, int64_t& out_us) {
  if (value.is_null() || flaw_) return;
  std::optional<int64_t> us;
  if (value.is_number_integer() || value.is_number_unsigned()) {
    const auto s = value.get<double>();  // rounded, for the range check
    if (s >= 0 && s <= static_cast<double>(kMaxTimeS)) us = value.get<int64_t>() * kUsPerS;
  } else if (value.is_number()) {
    const auto s = value.get<double>();
    if (s >= 0 && s <= static_cast<double>(kMaxTimeS)) us = std::llround(s * 1e6);
  } else if (value.is_string()) {
    us = parse_seconds_us(value.get_ref<const std::string&>());
  }
  if (!us || *us < 0 || *us > kMaxTimeS * kUsPerS) {
    return fail(place, "invalid time", "0 to " + std::to_string(kMaxTimeS) + " s", shown(value));
  }
  out_us = *us;
}

void JsonReader::whole(const std::string& place, const Json& value, int64_t least, int64_t most,
                       int64_t& out) {
  if (value.is_null() || flaw_) return;
  std::optional<int64_t> number;
  if (value.is_number_unsigned()) {
    const auto wide = value.get<uint64_t>();
    if (wide <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      number = static_cast<int64_t>(wide);
    }
  } else if (value.is_number_integer()) {
    number = value.get<int64_t>();
  } else if (value.is_number()) {
    const auto real = value.get<double>();
    if (std::abs(real) < 0x1p53 && real == std::trunc(real)) number = static_cast<int64_t>(real);
  }
  if (!number || *number < least || *number > most) {
    return fail(place, "invalid number",
                "a whole number, " + std::to_string(least) + " to " + std::to_string(most),
                shown(value));
  }
  out = *number;
}

void JsonReader::whole(const std::string& place, const Json& value, int32_t least, int32_t& out) {
  int64_t wide = out;
  whole(place, value, least, std::numeric_limits<int32_t>::max(), wide);
  out = static_cast<int32_t>(wide);
}

void JsonReader::number(const std::string& place, const Json& value, double least, double& out,
                        double most) {
  if (value.is_null() || flaw_) return;
  const double real = value.is_number() ? value.get<double>() : std::nan("");
  if (!std::isfinite(real) || real < least || real > most) {
    return fail(place, "invalid number",
                most < std::numeric_limits<double>::max()
                    ? "a number from " + shortest_text(least) + " to " + shortest_text(most)
                : least > std::numeric_limits<double>::lowest()
                    ? "a number of at least " + shortest_text(least)
                    : "a number",
                shown(value));
  }
  out = real;
}

void JsonReader::texts(const std::string& place, const Json& value, std::vector<std::string>& out) {
  if (!expect_array(place, value)) return;
  for (size_t i = 0; i < value.size(); ++i) {
    std::string one;
    text(at(place, i), value[i], one);
    if (one.empty()) fail(at(place, i), "empty string", "a non-empty string", shown(value[i]));
    out.push_back(std::move(one));
  }
}

void JsonReader::deadlines(const std::string& place, const Json& value,
                           std::vector<Deadline>& out) {
  if (!expect_array(place, value)) return;
  for (size_t i = 0; i < value.size(); ++i) {
    if (!expect_object(at(place, i), value[i])) return;
    Deadline due{.within_us = -1};
    for (const auto& [key, said] : value[i].items()) {
      const std::string where = at(place, i) + "." + key;
      if (key == "within_s") {
        seconds(where, said, due.within_us);
      } else if (key == "value") {
        number(where, said, std::numeric_limits<double>::lowest(), due.value);
      } else {
        fail(where, "unknown key", "within_s or value", "'" + key + "'");
      }
    }
    if (due.within_us < 0)
      fail(at(place, i), "within_s is missing", "a key within_s", shown(value[i]));
    out.push_back(due);
  }
}

void JsonReader::groups(const std::string& place, const Json& value, std::vector<RoleGroup>& out) {
  if (!expect_array(place, value)) return;
  for (size_t g = 0; g < value.size(); ++g) {
    if (!expect_object(at(place, g), value[g])) return;
    RoleGroup group;
    for (const auto& [key, said] : value[g].items()) {
      const std::string where = at(place, g) + "." + key;
      bool known = key == "role" || key == "after" || key == "run_s";
      if (key == "role") text(where, said, group.role);
      if (key == "run_s") seconds(where, said, group.run_us);
      if (key == "after" && expect_array(where, said)) {
        for (size_t i = 0; i < said.size(); ++i) {
          int32_t before = -1;
          whole(at(where, i), said[i], 0, before);
          group.after.push_back(before);
        }
      }
      visit_group(group, [&, &key = key, &said = said](const char* name, auto& number, auto) {
        if (key != name) return;
        known = true;
        using Number = std::remove_cvref_t<decltype(number)>;
        if constexpr (std::is_same_v<Number, double>) {
          const bool memory = key == "gpu_mem_gib";
          this->number(where, said, 0, number,
                       memory ? kMaxGib : std::numeric_limits<double>::max());
        } else {
          const bool share = key == "gpu_milli";
          int64_t wide = number;
          whole(where, said, 0, share ? 999 : std::numeric_limits<Number>::max(), wide);
          number = static_cast<Number>(wide);
        }
      });
      if (!known) fail(where, "unknown key", "a key of a group", "'" + key + "'");
    }
    // If only one bound is given, the other is the number asked for.
    if (group.min_count > 0 && group.max_count == 0) group.max_count = group.count;
    if (group.max_count > 0 && group.min_count == 0) group.min_count = group.count;
    out.push_back(std::move(group));
  }
}

Json deadlines_json(const std::vector<Deadline>& dues) {
  Json out = Json::array();
  for (const Deadline& due : dues) {
    out.push_back({{"within_s", seconds_json(due.within_us)}, {"value", due.value}});
  }
  return out;
}

Json groups_json(const std::vector<RoleGroup>& groups) {
  Json out = Json::array();
  for (const RoleGroup& group : groups) {
    Json one = Json::object();
    one["role"] = group.role;
    visit_group(group, [&](const char* name, const auto& number, auto default_value) {
      if (number != default_value || std::string_view(name) == "count") one[name] = number;
    });
    if (!group.after.empty()) one["after"] = group.after;
    if (group.run_us >= 0) one["run_s"] = seconds_json(group.run_us);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace yard
