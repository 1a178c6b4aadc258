// FIFO allocation of GPUs to jobs as in Gavel's simulator (OSDI 2020): a job gets one GPU type and
// keeps it until it ends. Quirks of the original are kept, since results depend on them:
//  - The head of the queue gets the place of an ended job before all running jobs are counted, so a
//    type may be over-allocated. A head without room there is skipped until the next allocation.
//  - With several types, the next job gets the last type by name with a free GPU, even if the job
//    does not fit. When exactly all GPUs of that type are given out, a random type with room is
//    closed.
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

  // Returns a number from 0 to n-1 as randrange(n) does. Requires: n >= 1.
  uint32_t below(uint32_t n);

 private:
  std::mt19937 bits_;
};

class GavelFifo {
 public:
  // `workers`: number of GPUs by type, sorted by the types' names. `gpus` (N): demand of each job.
  GavelFifo(std::vector<int32_t> workers, const int32_t* gpus, int32_t num_jobs, uint32_t seed)
      : workers_(std::move(workers)),
        gpus_(gpus),
        type_(static_cast<size_t>(num_jobs), kNone),
        random_(seed) {}

  // Recomputes the allocation. `active`: jobs in the system, in ascending order.
  void allocate(const std::vector<int32_t>& active);

  // Returns the jobs with a type, in ascending order. Includes jobs which ended since allocate().
  const std::vector<int32_t>& allocated() const { return allocated_; }
  int32_t type_of(int32_t j) const { return type_[static_cast<size_t>(j)]; }

 private:
  void assign(int32_t j, int32_t type);

  std::vector<int32_t> workers_;
  const int32_t* gpus_;
  std::vector<int32_t> type_;  // (N)
  std::vector<int32_t> allocated_;
  std::vector<int32_t> free_;  // by type, not given to jobs counted so far; may be negative
  PythonRandom random_;
};

}  // namespace yard
