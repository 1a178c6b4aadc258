// Groups jobs that were submitted together into batches: jobs of one owner and one size, each less
// than ten minutes after the one before. Jobs of a batch (siblings) resemble one another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/trace/core/job.h"

namespace yard {

// Owners of jobs: users if the trace names several, else tenants. kNone: neither, so that size
// and time alone form batches.
enum class Owner { kNone, kTenant, kUser };

Owner owner_kind(const std::vector<Job>& jobs);
const std::string& owner_of(const Job& job, Owner kind);  // "" for kNone

struct Batches {
  struct Batch {
    int32_t owner = 0;          // numbered by first appearance, from 0
    int32_t gpus = 0;           // of each job
    int32_t before = -1;        // previous batch of this owner and size; -1: none
    std::vector<int32_t> jobs;  // indices, by submission
  };

  Owner kind = Owner::kNone;
  int32_t owners = 0;
  std::vector<Batch> all;  // by submission of the first job
  std::vector<int32_t> of_job;
};

constexpr int64_t kBatchGapUs = 600'000'000;

// Requires: jobs sorted by submission.
Batches find_submission_batches(const std::vector<Job>& jobs);

}  // namespace yard
