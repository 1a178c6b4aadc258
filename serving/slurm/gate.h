// The contract with job_submit.lua: which jobs have a lease, and what their admin comment says.
//
//   submitted with a lease:  begin time = now + lease, "yardmaster lease"
//   started by the agent:    required nodes = those of the decision, "yardmaster pin DECISION"
//
// A job with another comment is not the agent's. Admin comments outlive the agent and its memory.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "serving/slurm/records.h"

namespace yard::slurm {

inline constexpr const char* kLeaseComment = "yardmaster lease";
inline constexpr const char* kPinComment = "yardmaster pin";

inline bool has_pin(const SlurmJob& job) { return job.admin_comment.starts_with(kPinComment); }
inline bool has_lease(const SlurmJob& job) {
  return job.admin_comment.starts_with(kLeaseComment) || has_pin(job);
}

// Returns the decision that started the job; "" if none did.
inline std::string decision_of(const SlurmJob& job) {
  if (!has_pin(job)) return "";
  const std::string_view rest =
      std::string_view(job.admin_comment).substr(std::string_view(kPinComment).size());
  return std::string(rest.substr(std::min(rest.find_first_not_of(' '), rest.size())));
}

}  // namespace yard::slurm
