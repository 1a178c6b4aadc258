// Predicted remaining run times of jobs, for agents.
#pragma once

#include "env/predict/survival_index.h"

namespace yard {

struct AssumesPreemption {
  bool preempt = true;
  void fields(FieldList&) {}
};

using RemainingTimes =
    SurvivalPriorityIndex<InformationLevel::kHistory, AssumesPreemption, Attained::kWork>;

}  // namespace yard
