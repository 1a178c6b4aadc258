// Groups jobs into batches: jobs of one owner and one size, each submitted less than ten minutes
// after the one before. The jobs of a batch (siblings) resemble one another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/trace/core/job.h"

namespace yard {

// What owns a job when batches are formed: its user (kUser), its tenant (kTenant), or nothing
// (kNone), so that only the sizes and times of jobs form batches.
enum class Owner { kNone, kTenant, kUser };

Owner owner_kind(const std::vector<Job>& jobs);
const std::string& owner_of(const Job& job, Owner kind);  // "" for kNone

struct SubmissionBatches {
  struct Batch {
    int32_t owner = 0;          // index of the owner, by first appearance in the trace
    int32_t gpus = 0;           // GPUs of each job
    int32_t before = -1;        // index of the owner's previous batch of this size; -1: none
    std::vector<int32_t> jobs;  // indices of the jobs, by submission
  };

  Owner kind = Owner::kNone;
  int32_t owners = 0;
  std::vector<Batch> all;  // batches by submission of their first job
  std::vector<int32_t> of_job;
};

constexpr int64_t kBatchGapUs = 600'000'000;

// Groups the jobs into batches. Requires: `jobs` are sorted by submission.
SubmissionBatches find_submission_batches(const std::vector<Job>& jobs);

}  // namespace yard
