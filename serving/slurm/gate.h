// The contract with job_submit.lua: which jobs have a lease, and what their admin comment says.
//
//   submitted with a lease:  begin time = now + lease, "yardmaster lease"
//   started by the agent:    required nodes = those of the decision, "yardmaster pin DECISION"
//
// A job with another comment is not the agent's. Admin comments outlive the agent and its memory.
#pragma once

#include <string>

#include "serving/slurm/records.h"

namespace yard::slurm {

inline constexpr const char* kLeaseComment = "yardmaster lease";
inline constexpr const char* kPinComment = "yardmaster pin";

inline bool has_pin(const SlurmJob& job) { return job.admin_comment.starts_with(kPinComment); }
inline bool has_lease(const SlurmJob& job) {
  return job.admin_comment.starts_with(kLeaseComment) || has_pin(job);
}

}  // namespace yard::slurm
