// First come, first served as Gavel's simulator gives workers to jobs: a job gets one type and
// keeps it until it ends. Kept from the original, since results hang on it:
//  - an ended job's place goes to the head of the queue before the jobs that still run are counted,
//    so that a type may be given away beyond its size; a head that does not even fit into what has
//    not been counted yet loses its turn this time;
//  - with several types, whoever comes next gets the last type by name that has anybody free,
//    whether it fits there or not; and where a type is used up exactly, one type of those that
//    would have had room, drawn by lot, is closed.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "env/sim/columns.h"

namespace yard {

// The random numbers of Python's `random.Random(seed)`, in which the lots are drawn.
class PythonRandom {
 public:
  explicit PythonRandom(uint32_t seed);

  // Returns one of 0 to n-1 as randrange(n) does. Requires: 1 <= n.
  uint32_t below(uint32_t n);

 private:
  std::mt19937 bits_;
};

class GavelFifo {
 public:
  // `workers`: how many each type has, types by name. `gpus` (N): what each job asks for.
  GavelFifo(std::vector<int32_t> workers, const int32_t* gpus, int32_t num_jobs, uint32_t seed)
      : workers_(std::move(workers)),
        gpus_(gpus),
        type_(static_cast<size_t>(num_jobs), kNone),
        random_(seed) {}

  // Gives out anew. `active`: jobs that came and did not leave, by rising number.
  void allocate(const std::vector<int32_t>& active);

  // The jobs that have a type, by rising number; up to the next allocate() those that left, too.
  const std::vector<int32_t>& allocated() const { return allocated_; }
  int32_t type_of(int32_t j) const { return type_[static_cast<size_t>(j)]; }

 private:
  void give(int32_t j, int32_t type);

  std::vector<int32_t> workers_;
  const int32_t* gpus_;
  std::vector<int32_t> type_;  // (N)
  std::vector<int32_t> allocated_;
  std::vector<int32_t> free_;  // by type, of what was counted so far
  PythonRandom random_;
};

}  // namespace yard
