// Preemption which makes room for a job, whatever it requests: GPUs, cores and tasks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/sim/view/plan.h"
#include "env/sim/view/view.h"

namespace yard {

// Returns the job's best-fit placement (placement_rules.h); empty if it has none.
std::vector<Piece> best_fit(const View& view, int32_t slot);

// Preempts jobs of `victims`, in their order, until best-fit finds a placement, and starts the job.
// Spares victims that hold nothing on its nodes. Without a placement: returns false, changes
// nothing.
bool preempt_to_start(const View& view, int32_t slot, std::span<const int32_t> victims,
                      Draft& draft);

}  // namespace yard
