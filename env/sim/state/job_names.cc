#include "env/sim/state/job_names.h"

#include "env/sim/state/columns.h"

namespace yard {

int32_t JobNames::index_in(std::unordered_map<std::string, int32_t>& known,
                           const std::string& key) {
  const auto [it, fresh] = known.try_emplace(key, static_cast<int32_t>(known.size()));
  if (fresh) text_bytes_ += key.size();
  return it->second;
}

int32_t JobNames::user_of(const Job& job) {
  return job.user.empty() ? kNone : index_in(users_, job.user);
}

int32_t JobNames::name_of(const Job& job) {
  // The length of the user's name keeps two pairs from making one text.
  std::string key = std::to_string(job.user.size()) + ':' + job.user;
  const size_t prefix = key.size();
  for (const char c : job.name) {
    if (c < '0' || c > '9') key += c;
  }
  return key.size() == prefix ? kNone : index_in(names_, key);
}

}  // namespace yard
