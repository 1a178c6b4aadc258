#include "env/trace/profiles/throughputs.h"

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "env/trace/formats/native_json.h"

namespace yard {
namespace {

using SortedJson = nlohmann::json;  // finds a key among many quickly

// Position in the file: "throughputs.json: v100: ('LM (batch size 5)', 1)".
std::string at(const std::string& place, const std::string& key) { return place + ": " + key; }

double steps_per_s(const SortedJson& value, const std::string& place) {
  if (value.is_number() && value.get<double>() >= 0) return value.get<double>();
  throw InputError(place, "steps per second, at least 0", shown(value));
}

const SortedJson& object(const SortedJson& value, const std::string& place, const std::string& of) {
  if (value.is_object()) return value;
  throw InputError(place, "an object of " + of, shown(value));
}

Throughputs::Kind kind_at(const std::string& key, const std::string& place) {
  if (const auto kind = Throughputs::parse_kind(key)) return *kind;
  throw InputError(place, "a job type like ('LM (batch size 5)', 1)", "'" + key + "'");
}

}  // namespace

Throughputs::Kind Throughputs::kind_of(const Job& job) {
  const std::string batch =
      job.batch_size > 0 ? " (batch size " + std::to_string(job.batch_size) + ")" : "";
  return {job.model + batch, job.gpus};
}

std::string Throughputs::text_of(const Kind& kind) {
  return "('" + kind.first + "', " + std::to_string(kind.second) + ")";
}

std::optional<Throughputs::Kind> Throughputs::parse_kind(std::string_view text) {
  const size_t end = text.rfind("', ");
  if (!text.starts_with("('") || !text.ends_with(')') || end == text.npos || end < 3) return {};
  const auto gpus = parse_number<int32_t>(text.substr(end + 3, text.size() - end - 4));
  if (!gpus || *gpus < 1) return {};
  return Kind{text.substr(2, end - 2), *gpus};
}

Throughputs Throughputs::load(const std::string& path) {
  SortedJson json;
  try {
    json = SortedJson::parse(read_decompressed_file(path));
  } catch (const SortedJson::parse_error& error) {
    throw InputError(path, "JSON", "an error at byte " + std::to_string(error.byte));
  } catch (const SortedJson::out_of_range&) {
    throw InputError(path, "JSON", "a number that is too large");
  }
  Throughputs out;
  out.path_ = path;
  for (const auto& [type, kinds] : object(json, path, "GPU types").items()) {
    const std::string in_type = at(path, type);
    std::map<Kind, Entry>& entries = out.types_[type];
    for (const auto& [key, others] : object(kinds, in_type, "job types").items()) {
      const std::string place = at(in_type, key);
      Entry& entry = entries[kind_at(key, in_type)];
      for (const auto& [other, value] : object(others, place, "throughputs").items()) {
        const std::string here = at(place, other);
        if (other == "null") {
          entry.alone = steps_per_s(value, here);
          continue;
        }
        const Kind colocated = kind_at(other, place);
        if (!value.is_array() || value.size() != 2) {
          throw InputError(here, "two numbers", shown(value));
        }
        entry.colocated[colocated] = {steps_per_s(value[0], here), steps_per_s(value[1], here)};
      }
    }
  }
  if (out.types_.empty()) throw InputError(path, "at least one GPU type", "none");
  return out;
}

std::vector<std::string> Throughputs::types() const {
  std::vector<std::string> names;
  for (const auto& [name, entries] : types_) names.push_back(name);
  return names;
}

const Throughputs::Entry* Throughputs::find(const std::string& type, const Kind& kind) const {
  const auto entries = types_.find(type);
  if (entries == types_.end()) return nullptr;
  const auto entry = entries->second.find(kind);
  return entry == entries->second.end() ? nullptr : &entry->second;
}

std::optional<double> Throughputs::isolated_throughput(const std::string& type,
                                                       const Kind& kind) const {
  const Entry* entry = find(type, kind);
  return entry == nullptr ? std::nullopt : entry->alone;
}

std::optional<std::pair<double, double>> Throughputs::colocated_throughputs(
    const std::string& type, const Kind& kind, const Kind& other) const {
  const Entry* entry = find(type, kind);
  if (entry == nullptr) return std::nullopt;
  const auto colocated = entry->colocated.find(other);
  if (colocated == entry->colocated.end()) return std::nullopt;
  return colocated->second;
}

}  // namespace yard
