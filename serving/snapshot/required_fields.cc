#include "serving/snapshot/required_fields.h"

#include <algorithm>
#include <map>

#include "env/base/core/check.h"

namespace yard {
namespace {

using HasField = bool (*)(const pb::Job& job);

const std::map<std::string, HasField>& table() {
  static const std::map<std::string, HasField> out = {
      {"job.user", [](const pb::Job& job) { return !job.user().empty(); }},
      {"job.limit_s", [](const pb::Job& job) { return job.limit_s() > 0; }},
      {"job.model", [](const pb::Job& job) { return !job.model().empty(); }},
      {"job.dues", [](const pb::Job& job) { return job.dues_size() > 0; }},
  };
  return out;
}

}  // namespace

const std::vector<std::string>& requirable_fields() {
  static const std::vector<std::string> out = [] {
    std::vector<std::string> names;
    for (const auto& [name, has] : table()) names.push_back(name);
    return names;
  }();
  return out;
}

std::string missing_field(const std::vector<std::string>& fields,
                          const pb::DecideRequest& request) {
  if (request.jobs().empty()) return "";
  for (const std::string& field : fields) {
    const auto found = table().find(field);
    YARD_CHECK(found != table().end(), "a policy requires an unknown field");
    if (std::ranges::none_of(request.jobs(), found->second)) return field;
  }
  return "";
}

}  // namespace yard
