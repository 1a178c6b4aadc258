// Numbers users, and the job names of each user, in the order in which they appear. Digits in a
// name are ignored: "train-12" and "train-13" get the same number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "env/trace/core/job.h"

namespace yard {

class JobNames {
 public:
  // Return the number of the job's user, and of its name; kNone if the job has none.
  int32_t user_of(const Job& job);
  int32_t name_of(const Job& job);

  int32_t num_users() const { return static_cast<int32_t>(users_.size()); }
  int32_t num_names() const { return static_cast<int32_t>(names_.size()); }
  size_t bytes() const { return text_bytes_ + (users_.size() + names_.size()) * kEntryBytes; }

 private:
  static constexpr size_t kEntryBytes = 80;

  int32_t index_in(std::unordered_map<std::string, int32_t>& known, const std::string& key);

  size_t text_bytes_ = 0;
  std::unordered_map<std::string, int32_t> users_;
  std::unordered_map<std::string, int32_t> names_;  // by user and name
};

}  // namespace yard
