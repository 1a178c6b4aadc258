// Which jobs were submitted together: jobs of one owner and one size, each within ten minutes of
// the one before. Such siblings resemble one another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/trace/job.h"

namespace yard {

// Whom jobs are counted by: users where the trace names several, else tenants, else nobody, and
// then size and closeness alone make a batch.
enum class Owner { kNobody, kTenant, kUser };

Owner owner_kind(const std::vector<Job>& jobs);
const std::string& owner_of(const Job& job, Owner kind);  // "" for kNobody

struct Batches {
  struct Batch {
    int32_t owner = 0;          // by first appearance, from 0
    int32_t gpus = 0;           // of each of its jobs
    int32_t before = -1;        // the batch of this owner and size before it; -1: the first
    std::vector<int32_t> jobs;  // by submission
  };

  Owner kind = Owner::kNobody;
  int32_t owners = 0;
  std::vector<Batch> all;  // by submission of the first job
  std::vector<int32_t> of_job;
};

constexpr int64_t kTogetherUs = 600'000'000;

// Requires: jobs by rising submission.
Batches find_batches(const std::vector<Job>& jobs);

}  // namespace yard
