// Predicted remaining run times for agents: the index of env/predict/survival_index.h, where jobs
// may be preempted or not.
#pragma once

#include "env/predict/survival_index.h"
#include "env/sim/view/work_view.h"

namespace yard {

struct PreemptSetting {
  bool preempt = true;
  void fields(FieldList&) {}
};

using RemainingTimes = SurvivalIndex<Level::kHistory, PreemptSetting, WorkView>;

}  // namespace yard
