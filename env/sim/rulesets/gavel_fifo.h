// FIFO allocation of GPUs to jobs as in Gavel's simulator (OSDI 2020): a job gets one GPU type and
// keeps it until it ends. Quirks of the original are kept, since results depend on them:
//  - The head of the queue gets the place of an ended job before all running jobs are counted, so a
//    type may be over-allocated. A head that does not fit in that place is skipped until the
//    next allocation.
//  - With several types, the next job gets the last type by name with a free GPU, even if the job
//    does not fit. When a job takes the last free GPUs of its type, a random type with room for the
//    job gets no more jobs in this allocation.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "env/sim/state/columns.h"

namespace yard {

// Generates the random numbers of Python's `random.Random(seed)`.
class PythonRandom {
 public:
  explicit PythonRandom(uint32_t seed);

  // Returns a number from 0 to n-1, as Python's randrange(n) does. Requires: n >= 1.
  uint32_t below(uint32_t n);

 private:
  std::mt19937 bits_;
};

class GavelFifo {
 public:
  // `workers`: numbers of GPUs by type, in order of type name. `gpus` (N): demand of each job.
  GavelFifo(std::vector<int32_t> workers, const int32_t* gpus, int32_t num_jobs, uint32_t seed)
      : workers_(std::move(workers)),
        gpus_(gpus),
        type_(static_cast<size_t>(num_jobs), kNone),
        random_(seed) {}

  // Recomputes the allocation for the jobs in the system, `active`, in ascending order.
  void allocate(const std::vector<int32_t>& active);

  // Returns jobs with a GPU type, in ascending order, even if they ended since allocate().
  const std::vector<int32_t>& allocated_jobs() const { return allocated_; }
  int32_t type_of(int32_t j) const { return type_[static_cast<size_t>(j)]; }

 private:
  void assign(int32_t j, int32_t type);

  std::vector<int32_t> workers_;
  const int32_t* gpus_;
  std::vector<int32_t> type_;  // (N)
  std::vector<int32_t> allocated_;
  std::vector<int32_t> free_;  // GPUs left by type; negative if over-allocated
  PythonRandom random_;
};

}  // namespace yard
