// Preempts jobs to make room for a job that may request GPUs, cores and several tasks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/sim/view/plan.h"
#include "env/sim/view/view.h"

namespace yard {

// Returns the job's best-fit placement (placement_rules.h); empty if the job does not fit.
std::vector<Piece> best_fit(const View& view, int32_t slot);

// Preempts jobs of `victims`, in their order, until best-fit finds a placement, and starts the job.
// Spares victims that hold nothing on the nodes of this placement. Returns false, and changes
// nothing, if there is no placement.
bool preempt_to_start(const View& view, int32_t slot, std::span<const int32_t> victims,
                      Draft& draft);

}  // namespace yard
