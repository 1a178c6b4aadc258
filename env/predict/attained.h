// What a predictor measures of a job: the time for which the job has run, or the work it has done,
// which is counted as time on the reference type of GPU.
#pragma once

#include <cstdint>

#include "env/sim/view/view.h"

namespace yard {

enum class Attained : uint8_t { kTime, kWork };

inline int64_t attained_us(const View& view, int32_t slot, Attained attained) {
  return attained == Attained::kWork ? view.work_done_in_whole_us(slot) : view.attained_us(slot);
}

}  // namespace yard
