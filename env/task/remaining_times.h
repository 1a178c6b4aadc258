// Predicted remaining run times of jobs, for agents.
#pragma once

#include "env/predict/survival_index.h"

namespace yard {

struct PreemptSetting {
  bool preempt = true;
  void fields(FieldList&) {}
};

using RemainingTimes =
    SurvivalPriorityIndex<InformationLevel::kHistory, PreemptSetting, Attained::kWork>;

}  // namespace yard
