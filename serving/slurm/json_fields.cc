#include "serving/slurm/json_fields.h"

#include <cmath>
#include <limits>

#include "env/base/text/text.h"

namespace yard::slurm {
namespace {

const Json* find(const Json& record, const char* key) {
  if (!record.is_object()) return nullptr;
  const auto it = record.find(key);
  return it == record.end() || it->is_null() ? nullptr : &*it;
}

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<double> number_of(const Json& record, const char* key) {
  const Json* field = find(record, key);
  if (field == nullptr) return {};
  if (field->is_number()) return finite(field->get<double>());
  if (field->is_string()) return parse_double(field->get_ref<const std::string&>());
  if (!field->is_object()) return {};
  const Json *set = find(*field, "set"), *infinite = find(*field, "infinite");
  if (set != nullptr && set->is_boolean() && !set->get<bool>()) return {};
  if (infinite != nullptr && infinite->is_boolean() && infinite->get<bool>()) return {};
  const Json* number = find(*field, "number");
  if (number == nullptr || !number->is_number()) return {};
  return finite(number->get<double>());
}

int int_of(const Json& record, const char* key, int otherwise) {
  const auto number = number_of(record, key);
  if (!number || std::abs(*number) > std::numeric_limits<int>::max()) return otherwise;
  return static_cast<int>(*number);
}

std::string text_of(const Json& record, const char* key) {
  return join(texts_of(record, key), ",");
}

std::vector<std::string> texts_of(const Json& record, const char* key) {
  const Json* field = find(record, key);
  std::vector<std::string> out;
  if (field == nullptr) return out;
  if (field->is_string() && !field->get_ref<const std::string&>().empty()) {
    out.push_back(field->get<std::string>());
  }
  if (!field->is_array()) return out;
  for (const Json& one : *field) {
    if (one.is_string()) out.push_back(one.get<std::string>());
  }
  return out;
}

bool flag_of(const Json& record, const char* key) {
  const Json* field = find(record, key);
  if (field == nullptr) return false;
  if (field->is_boolean()) return field->get<bool>();
  return number_of(record, key).value_or(0) != 0;
}

}  // namespace yard::slurm
