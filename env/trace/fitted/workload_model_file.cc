// Stores a fitted model as JSON, one item per line, which people can read and edit.
#include <yaml-cpp/yaml.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "env/base/config/yaml_document.h"
#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/fitted/workload_model.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

void visit(Resources& r, auto& f) {
  f("gpus", r.gpus, 0, INT32_MAX);
  f("gpu_milli", r.gpu_milli, 0, 999);
  f("gpu_mem_gib", r.gpu_mem_gib, 0.0, 1e6);
  f("cpu_milli", r.cpu_milli, 0, INT32_MAX);
  f("mem_mib", r.mem_mib, 0, INT64_MAX);
  f("nic_gbps", r.nic_gbps, 0.0, 1e6);
}

void visit(RoleGroup& g, auto& f) {
  f("role", g.role);
  f("count", g.count, 1, INT32_MAX);
  f("min_count", g.min_count, 0, INT32_MAX);
  f("max_count", g.max_count, 0, INT32_MAX);
  f("task", g.task);
  f("after", g.after, 0, 1000);
}

void visit(auto& value, auto& f) { value.fields(f); }

void visit(WorkloadModel& m, auto& f) {
  f.group("source", [&] {
    f("trace", m.source);
    f("format", m.format);
    f("sha256", m.sha256);
    f("from_s", m.from_s, -1e12, 1e12);
    f("to_s", m.to_s, -1e12, 1e12);
    f("jobs", m.jobs, 1, INT64_MAX);
    f("owner", m.owner);
    f("step_s", m.step_s, 1e-6, 3600.0);
    f("mean_gpu_s", m.mean_gpu_s, 0.0, 1e15);
  });
  f.group("arrivals", [&] {
    f("profile", m.profile);
    f("calendar", m.calendar);
    f("week", m.week, 0.0, 1e3);
    f("swings", m.swings);
  });
  f.group("owners", [&] {
    f("newcomers", m.newcomers, 0.0, 1e9);
    f("growth", m.growth, 0.0, 1.0);
    f("memory", m.memory, 0.0, 1.0);
    f("activity_sd", m.activity_sd, 0.0, 10.0);
    f("tenants", m.tenants, 0.0, 1.0);
  });
  f.group("batches", [&] {
    f("sizes", m.sizes);
    f("size_habit", m.size_habit);
    f("jobs_owner", m.batch_jobs_owner, 0.0, 1.0);
    f("jobs_level", m.batch_jobs_level, 0.0, 1.0);
    f("level_hours", m.level_hours, 0.01, 1e6);
    f("level_with_rate", m.level_with_rate, -1.0, 1.0);
    f("gap_s", m.gap_s);
    f("gap_batch", m.gap_batch, 0.0, 1.0);
    f("gap_with_jobs", m.gap_with_jobs, -1.0, 1.0);
    f("kinds", m.kinds);
    f("kind_habit", m.kind_habit);
  });
  f.group("limits", [&] {
    f("owner", m.limit_owner, 0.0, 1.0);
    f("with_run", m.limit_with_run, -1.0, 1.0);
    f("usual_s", m.limits_s, 0.0, 1e12);
    f("timeouts", m.timeouts, 0.0, 1.0);
  });
  f.group("statuses", [&] {
    f("names", m.statuses);
    f("shares", m.status_shares, 0.0, 1.0);
  });
  f("classes", m.classes);
}

class FieldWriter {
 public:
  Json json = Json::object();

  void operator()(const char* key, auto& value, auto...) { json[key] = of(value); }
  void group(const char* key, auto fill) {
    Json outer = std::exchange(json, Json::object());
    fill();
    outer[key] = std::exchange(json, Json());
    json = std::move(outer);
  }

 private:
  static Json of(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.8g", value);
    return std::strtod(digits, nullptr);
  }
  static Json of(std::string& value) { return value; }
  template <class T>
  static Json of(std::vector<T>& values) {
    Json array = Json::array();
    for (T& value : values) array.push_back(of(value));
    return array;
  }
  template <class T>
  static Json of(T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      return value;
    } else {
      FieldWriter inner;
      visit(value, inner);
      return inner.json;
    }
  }
};

// Returns the text of `json`. Lists of plain values and short items stay on one line.
std::string lines_of(const Json& json, int indent) {
  constexpr size_t kShort = 96;
  const auto structured = [](const Json& item) { return item.is_structured(); };
  std::string whole = json.dump();
  const bool plain = json.is_array() && std::none_of(json.begin(), json.end(), structured);
  if (!json.is_structured() || plain || whole.size() + static_cast<size_t>(indent) <= kShort) {
    return whole;
  }
  std::string out(1, json.is_array() ? '[' : '{');
  const char* comma = "";
  for (const auto& [key, item] : json.items()) {
    out += std::exchange(comma, ",");
    out += '\n' + std::string(static_cast<size_t>(indent) + 2, ' ');
    if (json.is_object()) out += Json(key).dump() + ": ";
    out += lines_of(item, indent + 2);
  }
  return out + '\n' + std::string(static_cast<size_t>(indent), ' ') + (json.is_array() ? ']' : '}');
}

std::string position(const std::string& name, const YAML::Mark& mark) {
  return name + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

// Reads fields from JSON, parsed as YAML, since yaml-cpp records the position of each value.
class FieldReader {
 public:
  FieldReader(const YAML::Node& node, const std::string& name) : node_(node), name_(name) {
    expect_map(node_);
  }

  void operator()(const char* key, auto& value, auto... range) {
    read(take(key), key, value, range...);
  }
  void group(const char* key, auto fill) {
    const YAML::Node inner = take(key);
    expect_map(inner);
    const YAML::Node outer = node_;
    std::vector<std::string> keys = std::exchange(keys_, {});
    node_.reset(inner);
    fill();
    finish();
    node_.reset(outer);
    keys_ = std::move(keys);
  }

  // Throws InputError about a key that is not a field, or that occurs twice.
  void finish() const {
    std::vector<std::string> left = keys_;
    for (const auto& entry : node_) {
      const auto at = std::ranges::find(left, entry.first.Scalar());
      if (at == left.end()) {
        throw InputError(where(entry.first), "each of these keys once: " + join(keys_),
                         "'" + entry.first.Scalar() + "'");
      }
      left.erase(at);
    }
  }

  std::string where(const YAML::Node& node) const { return position(name_, node.Mark()); }

 private:
  void expect_map(const YAML::Node& node) const {
    if (!node.IsMap()) throw InputError(where(node), "keys and values", "something else");
  }

  YAML::Node take(const char* key) {
    keys_.emplace_back(key);
    const YAML::Node found = std::as_const(node_)[key];
    if (!found) throw InputError(where(node_), "the key '" + std::string(key) + "'", "none");
    return found;
  }

  [[noreturn]] void refuse(const YAML::Node& node, const std::string& key,
                           const std::string& expected) const {
    const std::string got = node.IsScalar() ? "'" + node.Scalar() + "'" : "a list or map";
    throw InputError(where(node), key + " = " + expected, got);
  }

  void read(const YAML::Node& node, const std::string& key, std::string& value) {
    if (!node.IsScalar()) refuse(node, key, "text");
    value = node.Scalar();
  }
  void read(const YAML::Node& node, const std::string& key, bool& value) {
    if (!node.IsScalar() || (node.Scalar() != "true" && node.Scalar() != "false")) {
      refuse(node, key, "true or false");
    }
    value = node.Scalar() == "true";
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void read(const YAML::Node& node, const std::string& key, T& value, std::type_identity_t<T> least,
            std::type_identity_t<T> most) {
    const auto parsed = node.IsScalar() ? parse_number<T>(node.Scalar()) : std::nullopt;
    if (!parsed || !(*parsed >= least && *parsed <= most)) {
      refuse(node, key, "a number from " + shortest_text(least) + " to " + shortest_text(most));
    }
    value = *parsed;
  }
  template <class T>
  void read(const YAML::Node& node, const std::string& key, std::vector<T>& values, auto... range) {
    if (!node.IsSequence()) refuse(node, key, "a list");
    values.clear();
    for (const YAML::Node& item : node) {
      values.emplace_back();
      read(item, key, values.back(), range...);
    }
  }
  template <class T>
  requires std::is_class_v<T>
  void read(const YAML::Node& node, const std::string&, T& value) {
    FieldReader inner(node, name_);
    visit(value, inner);
    inner.finish();
  }

  YAML::Node node_;
  const std::string& name_;
  std::vector<std::string> keys_;  // that were read
};

}  // namespace

std::string to_text(const WorkloadModel& model) {
  WorkloadModel copy = model;  // visit() takes non-const references
  FieldWriter out;
  visit(copy, out);
  return lines_of(out.json, 0) + "\n";
}

WorkloadModel parse_workload_model(const std::string& text, const std::string& name) {
  WorkloadModel model;
  try {
    FieldReader in(parse_yaml_document(text, name), name);
    visit(model, in);
    in.finish();
  } catch (const YAML::Exception& e) {
    throw InputError(position(name, e.mark), "JSON or YAML", e.msg);
  }
  check_workload_model(model, name);
  return model;
}

}  // namespace yard
